# SPDX-License-Identifier: MIT
# lathe explain: what it shows is what a run does; and run --trace, which says what it did.
source "$(dirname "$0")/cli.bash"
cat >big.json <<'END'
{ "lathe": 1, "name": "big", "seed": 1,
  "data": { "train": { "use": "blobs", "samples": 330 },
            "validation": { "use": "blobs", "samples": 70 },
            "test": { "use": "blobs", "samples": 60 } },
  "model": { "use": "mlp", "hidden": [8] },
  "optimizer": { "use": "adamw", "lr": 0.1, "groups": [{ "match": "*.bias", "lr": 0.01 }] },
  "schedule": { "use": "linear", "warmup": "3step" },
  "train": { "until": "20step", "batch": 32, "accumulate": 3, "shards": 2, "validate": "3step",
             "clip_norm": 1, "log": "2step" },
  "callbacks": [ { "use": "progress" }, { "use": "early-stopping", "patience": 100 },
                 { "use": "recorder", "file": "recorded", "id": "one" },
                 { "use": "empty", "id": "two" } ] }
END
explain() { "$LATHE" explain "$@" --plugin-path "$PROBES"; }
run() { rm -rf run && "$LATHE" run "$@" --plugin-path "$PROBES" --quiet --run-dir run; }
same() { cmp -s "$1" "$2" || { diff "$1" "$2" >out; complain "$1 and $2 differ"; }; }

# ---- what it will do, and what it did ----
for shards in 2 1 3; do
    for threads in 1 2; do
        try 0 run big.json train.shards=$shards train.threads=$threads --trace made
        try 0 explain big.json train.shards=$shards train.threads=$threads --calls 20step
        cp out told
        holds 'many lines' test "$(wc -l <told)" -gt 500
        same told made
        [[ $threads == 1 ]] || same made "made.$shards"
        cp made "made.$shards"
    done
done
try 0 explain big.json --calls 7step
cp out told
try 0 run big.json train.until=7step --trace made
same told made
try 0 explain big.json --calls 1ep
holds 'an epoch has 4 steps' test "$(grep -c '^host  *reduce ' out)" = 4
is_empty err
try 0 run big.json 'train.until=["3ep","1h"]' train.validate=off --trace made
try 0 explain big.json 'train.until=["3ep","1h"]' train.validate=off --calls 99ep
cp out told
same told made

# One line: who, what, and where in the run.
has made.2 'model                    forward              epoch=1 step=0 micro=0 shard=1 rows=16'
has made.2 'data.train               read                 epoch=1 step=3 micro=1 shard=0 rows=5'
has made.2 'host                     reduce               epoch=1 step=3 weight=42'
has made.2 'optimizer.groups.0       step                 epoch=1 step=0 update=1'
has made.2 'callbacks.one            step_end             epoch=1 step=1'
has made.2 'host                     visit                epoch=1 step=3 split=validation samples=70'
has made.2 'callbacks.progress       run_end              epoch=5 step=20 reason=completed'
holds 'one line a group and step' test "$(grep -c '^optimizer  *step ' made.2)" = 20

# ---- stages ----
stages='stages=[{},{"train":{"until":"2ep","batch":16,"only":"*.bias"},"optimizer":{"lr":0.5}}]'
try 0 run big.json train.until=1ep optimizer.groups=[] "$stages" --trace made
try 0 explain big.json train.until=1ep optimizer.groups=[] "$stages" --calls 99ep
cp out told
same told made
has made 'host                     stage                epoch=1 step=4 stage=2'
try 0 explain big.json train.until=1ep optimizer.groups=[] "$stages"
has out 'Stage 1 of 2'
has out '  parameters    4, 51 numbers; 11 trained'
holds 'one end' test "$(grep -c '^  run_end' out)" = 1

# ---- a trace that cannot be ----
try 73 run small.json --trace nowhere/made
try 73 run big.json --trace nowhere/made
is err 'lathe: cannot make the trace: No such file or directory
  where: nowhere/made'
holds 'no run' test ! -e run
if [[ -w /dev/full ]]; then
    try 74 run big.json train.until=1000ep 'callbacks=[]' --trace /dev/full
    has err 'lathe: cannot write the trace: No space left on device'
    has run/status.json '"reason": "failed"'
    try 74 run big.json train.until=1step --trace /dev/full # all of it in the buffer
    has err 'lathe: cannot write the trace: No space left on device'
fi

# It takes the place of a trace, and of nothing else; it is made when the run begins.
small
printf '1,2\n3,4\n' >points.csv
for path in small.json points.csv; do
    cp "$path" before
    try 73 run small.json --trace "$path"
    has err 'lathe: it is there, and is no trace'
    cmp -s "$path" before || complain "$path was written to"
done
try 78 run small.json train.batch=0 --trace made
try 78 run small.json train.batch=0 --trace fresh
holds 'no trace of no run' test ! -e fresh
head -1 made >first
try 0 run small.json train.until=1step --trace made
holds 'a trace is replaced' test "$(head -1 made)" = "$(<first)"
cp -r run held
for path in held/metrics.jsonl held/checkpoints/last.safetensors held/fresh; do
    try 73 "$LATHE" resume held --trace "$path"
    has err 'lathe: the trace would be inside the run "held"'
    try 73 "$LATHE" run --run-dir new --from held/checkpoints/last.safetensors --trace "$path"
    holds 'nothing is there' test ! -e held/fresh
done
diff -r run held >out || complain 'the run is another one'
ln -s nothing dangling
try 73 run small.json --trace dangling
# What the process was given open is written on from where it is.
rm -rf run
echo first >all
tried='run small.json --trace /dev/stdout'
"$LATHE" run small.json --run-dir run --plugin-path "$PROBES" train.until=1step \
    --quiet --trace /dev/stdout >>all 2>err || complain "$tried"
holds 'the line before' test "$(head -1 all)" = first
has all 'optimizer                step'
mkfifo pipe
cat pipe >all &
try 0 run small.json train.until=1step --trace pipe
wait $!
has all 'optimizer                step'

# ---- whole numbers, to the last of 64 bits ----
for count in 9007199254740993 9223372036854775807; do
    try 0 explain small.json data.train.samples=$count
    has out "samples       $count train"
    has out "data.train.samples                      $count"
done
try 78 explain small.json \
    'data.train={"use":"subset","of":{"use":"blobs","samples":9},"range":[0,9223372036854775807]}'
has err 'range: [0, 9223372036854775807] is not a part of the 9 samples'
try 78 explain small.json data.train.samples=9223372036854775808
has err 'help: 9223372036854775808 does not fit into 64 bits'
try 78 run small.json train.until=9007199254740993step
has err 'help: less than 9007199254740992 epochs, steps, samples or seconds'
try 0 explain small.json train.accumulate=2147483647 train.until=5000sample
has out 'run           16 steps at most'
for setting in batch accumulate; do
    try 78 explain small.json train.$setting=9223372036854775807
    has err 'help: allowed: integer, >= 1, <= 2147483647'
done

# ---- for people ----
try 0 explain big.json
is_empty err
has out 'big, seed 1: big.json'
has out '  callbacks.two             empty 1.0.0'
has out 'Loop'
has out '        forward                 mlp'
has out '      step                      adamw, adamw.groups.0   gradient scaled to norm 1 at most'
has out '  step          3 micro-batches, 96 samples; an epoch'"'"'s last: 2, 42 samples'
has out '  epoch         4 steps, 11 micro-batches'
has out '  run           20 steps at most: until 20step'
has out '  slices        2 shards: 16 + 16 rows; of an epoch'"'"'s last micro-batch 5 + 5'
has out '  parameters    4, 51 numbers; 51 trained'
has out '  file          optimizer.lr                            0.1'
has out '  default       train.nonfinite                         "stop"'
holds 'nothing was written' test ! -e runs
try 0 explain big.json 'train.until=["2ep","5step"]'
has out '5 steps at most: until 2ep or 5step'
try 0 explain big.json optimizer.lr=0.5 --json
is_empty err
tr -d ' \n' <out >flat
has flat '{"path":"optimizer.lr","value":0.5,"origin":"commandline"}'
has flat '"steps_per_epoch":4,"micros_per_epoch":11,"window":{"micros":3,"samples":96}'
has flat '"slices":{"shards":2,"least_rows":1,"full":[16,16],"last":[5,5]}'
try 0 explain big.json --json --calls 1step
holds 'calls' grep -q '"host                     reduce               epoch=1 step=0 weight=96"' out

# ---- what fails, fails as run does ----
for wrong in optimizer.lrr=1 model.use=mpl train.shards=400 train.until=5s schedule.use=nothing \
    'data.train={"use":"csv","file":"nowhere.csv","label":"y"}'; do
    run big.json "$wrong" >out.run 2>err.run
    code=$?
    holds 'it is wrong' test $code != 0
    try $code explain big.json "$wrong"
    same err err.run
    is_empty out
done
try 64 explain big.json --calls 5
has err 'where: --calls'
try 64 explain big.json --calls 5min
has err '20step'
try 64 explain
has err 'an experiment file'
verdict
