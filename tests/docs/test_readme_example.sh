# SPDX-License-Identifier: MIT
# labels: no-tsan
# README's experiment trains, and its callback builds as shown and stops a run.
source "$(dirname "$0")/docs.bash"
needs_plain_build

mkdir stop-below
block README.md json 1 >first.json
block README.md json 2 >stop-below/plugin.json
block README.md c 1 >stop-below/stop-below.c
lathe run first.json seed=7 2>printed || { cat printed; exit 1; }
tail -n 1 printed | grep -E '^(completed|stopped)'

# What README shows of a mistake is what is printed.
lathe run first.json optimizer.lrr=0.1 2>printed && exit 1
sed -n '/^\$ lathe run first.json optimizer.lrr/,/^```$/p' "$SOURCE/README.md" |
    sed '1d; $d' | diff - printed

# The two lines as they stand there.
mapfile -t lines < <(block README.md sh 2)
eval "${lines[0]}"
eval "${lines[1]} --quiet --json" >records.jsonl
tail -n 1 records.jsonl
tail -n 1 records.jsonl | grep -q '"event":"end","reason":"stopped"'
