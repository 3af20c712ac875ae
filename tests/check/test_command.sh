# SPDX-License-Identifier: MIT
# lathe check as a command: what it takes, prints and ends with.
set -u
source "$(dirname "${BASH_SOURCE[0]}")/check.bash"
cd "$scratch" || exit 1
sgd=$BUILD/plugins/optimizer/sgd csv=$BUILD/plugins/dataset/csv

# expect EXIT TEXT ARGUMENT…: that exit status, and that text on either stream
expect() {
    local wanted=$1 says=$2
    shift 2
    checked=$((checked + 1))
    "$LATHE" check "$@" >out 2>&1
    local code=$?
    ((code == wanted)) || complain "check $*: exit $code, not $wanted: $(cat out)"
    grep -qF -- "$says" out || complain "check $*: no \"$says\" in: $(cat out)"
}

expect 0 '18 of 18 passed' "$sgd"
grep -qE '^seed [0-9]+$' out || complain "no seed is printed"
grep -qF 'options made up: lr=0.01' out || complain "what is made up is not shown"
expect 0 '1 of 1 passed' "$sgd" --only exports
expect 0 '2 of 2 passed' "$sgd/plugin.json" --only spans --only state --seed 7
grep -qx 'seed 7' out || complain "another seed than the one given: $(cat out)"
expect 0 '18 of 18 passed' "$sgd/sgd.so" --time-limit 1min

mkdir alone
cp "$sgd/sgd.so" alone/
expect 0 '18 of 18 passed' alone
expect 0 '18 of 18 passed' alone/sgd.so

expect 64 'file must be given: --with' "$csv"
grep -qF 'skip  11 others' out || complain "what is left out is not counted: $(cat out)"
printf 'a,b,kind\n1,2,0\n3,4,1\n5,6,0\n7,8,1\n' >small.csv
expect 0 '16 of 16 passed' "$csv" --with '{ "file": "small.csv", "label": "kind" }'
mkdir csv-alone
cp "$csv/csv.so" csv-alone/
cat >experiment.json <<'JSON'
{ "lathe": 1, "data": { "train": { "use": "subset", "range": [0, 4],
  "of": { "use": "csv", "file": "small.csv", "label": "kind", "task": "classification" } } },
  "model": { "use": "linear" }, "optimizer": { "use": "sgd", "lr": 0.5, "momentum": 0.9 },
  "train": { "until": "1ep", "batch": 2 } }
JSON
expect 0 '1 of 1 passed' "$csv" --experiment experiment.json --only order
expect 0 "takes the experiment's data" "$BUILD/plugins/model/linear" \
    --experiment experiment.json --only create
expect 0 '18 of 18 passed' "$sgd" --experiment experiment.json
! grep -q 'made up' out || complain "options of the experiment are made up: $(cat out)"
expect 78 'does not use the schedule "cosine"' "$BUILD/plugins/schedule/cosine" \
    --experiment experiment.json

# An installed plugin by its name, and options as words.
expect 0 'optimizer sgd' sgd --only exports
expect 0 'dataset csv' dataset/csv file=small.csv label=kind --only order
expect 0 '1 of 1 passed' csv-alone/csv.so file=small.csv label=kind --only order
expect 0 'takes 6 numbers and 3 classes' mlp 'hidden=[4, 4]' hidden.1=2 --only create
! grep -q 'made up' out || complain "options that were given are made up: $(cat out)"
expect 0 '1 of 1 passed' "$sgd" momentum=0.25 --experiment experiment.json --only create
expect 78 'sgd has no option "momentun"' "$sgd" momentun=0.5
grep -qF 'where: command line: momentun' out || complain "a place of ours: $(cat out)"
expect 78 '2 is not less than 1' "$sgd" momentum=2
expect 64 'write callback/csv or dataset/csv' csv
expect 69 'did you mean "sgd"?' optimizer/sdg

expect 0 'optimizer  spans' --list
expect 64 'did you mean "spans"?' "$sgd" --only span
expect 64 'a whole number is wanted' "$sgd" --seed 1.5
expect 64 'a time is wanted' "$sgd" --time-limit 3ep
expect 64 'a plugin is missing'
expect 64 'it does not go with --experiment' "$sgd" --with '{}' --experiment experiment.json
expect 69 'there is no plugin "nowhere"' nowhere
expect 66 'No such file or directory' ./nowhere
mkdir empty
expect 66 'neither plugin.json nor one library alone' empty
expect 78 'sgd has no option "lrr"' "$sgd" --with '{ "lrr": 1 }'
expect 78 '--with takes an object' "$sgd" --with '[1]'

mkdir bare
cp "$sgd/plugin.json" bare/
objcopy --remove-section .note.lathe "$sgd/sgd.so" bare/sgd.so
expect 0 'the manifest is sound; the library carries none' bare --only manifest

mkdir other
sed 's/"version": "1.0.0"/"version": "9.9.9"/' "$sgd/plugin.json" >other/plugin.json
cp "$sgd/sgd.so" other/
expect 70 'FAIL  manifest' other

# What a test wrote is gone when the plugin crashed, too.
mkdir tests
TMPDIR=$PWD/tests "$LATHE" check "$PROBES/callback/rude" --with '{ "act": "exit" }' >out 2>&1
grep -q '^FAIL  resume  *it ended the process' out || complain "rude ends: $(cat out)"
[[ -z $(ls tests) ]] || complain "left in TMPDIR: $(ls tests)"

mkdir broken
echo '{ "lathe": 1, "kind": "callback", "name": "x", "version": "1", "library": "x.so" }' \
    >broken/plugin.json
expect 70 'FAIL  manifest' broken
(($(grep '^FAIL' out | grep -oF 'broken/x.so' | wc -l) == 1)) || complain "a path twice: $(cat out)"
grep -qF 'there is no sound library' out || complain "no reason for the rest: $(cat out)"

"$LATHE" check "$sgd" --json --seed 3 >records
python3 -c '
import json, sys
records = [json.loads(line) for line in open("records")]
assert len(records) == 19, records
assert all(r["event"] == "test" and r["verdict"] == "ok" for r in records[:-1]), records
end = records[-1]
assert (end["event"], end["passed"], end["failed"], end["seed"]) == ("end", 18, 0, 3), end
assert (end["kind"], end["plugin"]) == ("optimizer", "sgd"), end' 2>err ||
    [[ ! $(command -v python3) ]] || complain "--json: $(cat err records)"
verdict
