# SPDX-License-Identifier: MIT
# manifests/README.md names every file that a run writes and every key in it, and its
# resolved.json can be run again.
source "$(dirname "$0")/docs.bash"
readme=$SOURCE/manifests/README.md
faults=0
named() { grep -qF -- "\`$1\`" "$readme" || { echo "not in manifests/README.md: $1"; faults=1; }; }

block manifests/README.md json 1 >shown.json
lathe validate shown.json
block README.md json 1 >first.json
groups=$(block manifests/README.md json 2 | sed -n '/"groups"/,/\]/p' | sed 's/"groups"://')
lathe run first.json "optimizer.groups=$groups" 'callbacks=[{"use":"csv"}]' train.until=3ep \
    --run-dir run --json >records.jsonl

for file in run/*; do named "${file#run/}"; done
# Keys of the outermost object: what stands in braces or brackets further in is dropped.
keys() { sed -E ':a; s/\{[^{}]*\}\}/}/; s/:(\{[^{}]*\}|\[[^][]*\])/:0/; ta' "$@" |
    grep -oE '"[a-z_]+":' | tr -d '":' | sort -u; }
echo "keys: $(cat run/*.jsonl run/status.json records.jsonl | keys | xargs)"
for key in $(cat run/metrics.jsonl run/timing.jsonl run/status.json records.jsonl | keys); do
    named "$key"
done

# It repeats the run.
lathe run run/resolved.json --run-dir again --quiet
diff run/metrics.jsonl again/metrics.jsonl

# Exit codes are those of the program.
for code in $(lathe help | sed -n '/^Exit codes/,$p' | grep -oE '( |^) *[0-9]+  ' | xargs); do
    grep -q "^| $code | " "$readme" || { echo "no exit code $code"; faults=1; }
done
((faults == 0))
