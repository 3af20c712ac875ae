# SPDX-License-Identifier: MIT
# What a checkpoint is worth is what its run logged, to the digit.
source "$(dirname "$0")/cli.bash"

cat >ema.json <<'END'
{ "lathe": 1, "name": "ema", "seed": 1,
  "data": { "train": { "use": "blobs", "samples": 320 },
            "validation": { "use": "blobs", "samples": 61 },
            "test": { "use": "blobs", "samples": 77 },
            "more": { "use": "blobs", "samples": 500 } },
  "model": { "use": "mlp", "hidden": [8] },
  "optimizer": { "use": "adamw", "lr": 0.01 },
  "train": { "until": "4ep", "batch": 32, "shards": 3 },
  "callbacks": [ { "use": "ema" }, { "use": "csv" }, { "use": "early-stopping" },
                 { "use": "progress" },
                 { "use": "checkpoint", "every": "1ep", "keep": 0,
                   "best": "validation/loss" } ] }
END
try 0 "$LATHE" run ema.json --run-dir run --quiet
all() { find . -type f ! -name out ! -name err -exec sha256sum {} + | sort; }
before=$(all)

# logged SPLIT CHECKPOINT: eval prints the record of that step, with the checkpoint in it
logged() {
    try 0 "$LATHE" eval "$2" --on "$1" --json
    is_empty err
    local step
    step=$(sed -E 's/.*"step":([0-9]+).*/\1/' out)
    has out '"checkpoint":"run/checkpoints/'
    sed -E 's/,"checkpoint":"[^"]*"//' out >found
    grep -F "{\"split\":\"$1\"," run/metrics.jsonl | grep -F "\"step\":$step," >expected
    holds "as logged: $(<expected)" cmp -s expected found
    rm -f expected found
}
for step in 10 20 30 40; do
    logged validation "run/checkpoints/step-000000$step.safetensors"
done
logged validation run/checkpoints/best.safetensors
logged test run/checkpoints/last.safetensors
logged test run

# Test data is what is visited when nobody says what.
try 0 "$LATHE" eval run
value=$(sed -nE 's/.*"split":"test".*"loss":([0-9.]+).*/\1/p' run/metrics.jsonl)
has out 'test/accuracy  '
holds "the same number" awk -v v="$value" '/^test\/loss / { ok = $2 + 0 == v + 0 } END { exit !ok }' out
holds 'two lines' test "$(wc -l <out)" = 2
cp out averaged

# The average makes the difference.
try 0 "$LATHE" eval run 'callbacks=[]'
holds 'other numbers' test "$(<out)" != "$(<averaged)"
rm averaged

# Any data of the experiment, with other values than the run had.
try 0 "$LATHE" eval run --on train
has out 'train/loss '
try 0 "$LATHE" eval run --on more --json train.batch=400
has out '{"split":"more","epoch":4,"step":40,'
try 0 "$LATHE" eval run --on fresh 'data.fresh={"use":"blobs","samples":9}'
has out 'fresh/accuracy '
try 0 "$LATHE" eval run train.threads=1 -v
has err 'changed: train.threads'

tried='nothing is written'
holds 'the same files' test "$before" = "$(all)"

try 64 "$LATHE" eval run --on tset
is err 'lathe: the experiment has no data "tset"
  where: --on
  help: did you mean "test"? There are: train, validation, test, more'
try 64 "$LATHE" eval
has err 'a run or a checkpoint file'
try 66 "$LATHE" eval nobody
has err 'name a run'
mkdir nothing
try 66 "$LATHE" eval nothing
has err 'there is no whole checkpoint of this run'
cp run/checkpoints/step-00000020.safetensors bad.safetensors
printf x | dd of=bad.safetensors bs=1 seek=3000 conv=notrunc status=none
try 65 "$LATHE" eval bad.safetensors
has err 'its content was changed'
try 65 "$LATHE" eval ema.json
has err 'no safetensors file: it begins as JSON does'
# A program on its own has no plugins: where the experiment is, and where they were looked for.
cp "$LATHE" alone
LATHE_PLUGIN_PATH=$PWD/gone try 69 ./alone eval run
has err 'where: run/checkpoints/step-00000040.safetensors: model.use'
has err "help: not there: $PWD/gone (LATHE_PLUGIN_PATH), $HOME/.local/lib/lathe/plugins (user),"

# A run that somebody is at.
small
"$LATHE" run small.json --run-dir busy --quiet train.until=1000000ep \
    'callbacks=[{"use":"checkpoint","every":"20ep"}]' &
run=$!
wait_until test -e busy/checkpoints/last.safetensors
try 0 "$LATHE" eval busy
has out 'test/loss '
kill -KILL "$run"
wait "$run" 2>/dev/null
# A new run may begin from a run too.
try 0 "$LATHE" run --from busy train.until=1step --quiet
# Other fields than those trained on: which, and how.
printf 'a,b\n1,2\n' >two.csv
try 65 "$LATHE" eval run --on new 'data.new={"use":"csv","file":"two.csv"}'
has err 'there is no field "label", which the training data has'
printf 'a,b,c\n1,2,3\n' >three.csv
try 65 "$LATHE" predict run -o - --on new 'data.new={"use":"csv","file":"three.csv"}'
has err 'field "input" is float32 [3], and in the training data float32 [2]'
# What is called otherwise is another thing, and a wrong number would come of it.
printf 'x,y,kind\n1,2,a\n3,1,b\n2,2,a\n' >named.csv
cat >named.json <<'END'
{ "lathe": 1, "name": "named", "seed": 1,
  "data": { "train": { "use": "csv", "file": "named.csv", "label": "kind", "classes": ["a", "b"] } },
  "model": { "use": "linear" }, "optimizer": { "use": "sgd", "lr": 0.1 },
  "train": { "until": "1ep", "batch": 2 } }
END
validation='data.validation={"use":"csv","file":"other.csv","label":"kind","classes":["a","b"]}'
printf 'y,kind,x\n1,a,2\n' >other.csv
try 0 "$LATHE" run named.json --run-dir named --quiet "$validation"
printf 'y,kind,z\n1,a,2\n' >other.csv
try 65 "$LATHE" run named.json --run-dir refused "$validation"
has err 'value 0 of "input" is "y", and in the training data "x"'
has err 'data.validation'
try 65 "$LATHE" run named.json --run-dir refused "$validation" \
    'data.validation.features=["y","z"]'
has err 'value 0 of "input" is "y", and in the training data "x"'
try 0 "$LATHE" run named.json --run-dir indexed --quiet "$validation" \
    'data.validation.features=[2,0]'
cp named.csv other.csv
try 65 "$LATHE" run named.json --run-dir refused "$validation" \
    'data.validation.classes=["b","a"]'
has err 'class 0 of "label" is "b", and in the training data "a"'
printf 'y,z\n1,2\n' >new.csv
try 65 "$LATHE" predict named -o - --on new 'data.new={"use":"csv","file":"new.csv"}'
has err 'value 0 of "input" is "y", and in the training data "x"'
verdict
