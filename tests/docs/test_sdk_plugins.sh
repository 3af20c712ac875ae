# SPDX-License-Identifier: MIT
# labels: no-tsan
# The plugins in sdk/README.md build as shown, and train together.
source "$(dirname "$0")/docs.bash"
needs_plain_build

compile=$(sed -n '/^cc -std=c11/,/[^\\]$/p' "$SOURCE/sdk/README.md")
[[ -n $compile ]]
for ((n = 1; ; n++)); do
    block sdk/README.md json "$n" >plugin.json
    name=$(sed -nE 's/.*"kind": .*"name": "([^"]*)".*/\1/p' plugin.json)
    [[ -n $name ]] || break
    mkdir "$name"
    mv plugin.json "$name"
    block sdk/README.md c "$n" >"$name/$name.c"
    (
        cd "$name"
        eval "${compile//loss-spike/$name} -lm"
    )
done
ls -d loss-spike circle adagrad radial
mv plugin.json mine.json
lathe plugins --plugin-path . | grep -E ' (loss-spike|circle|adagrad|radial) '

for name in loss-spike circle adagrad; do lathe check "$name" | tail -n 1; done
lathe check radial --experiment mine.json --plugin-path . | tail -n 1

lathe run mine.json seed=7 --plugin-path . --run-dir run
cut -c 1-100 run/metrics.jsonl | tail -n 2
# Each split has points of its own.
grep '"step":630' run/metrics.jsonl | cut -d '"' -f 4 | sort -u | xargs |
    grep -x 'train validation'
