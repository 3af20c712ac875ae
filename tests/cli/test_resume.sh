# SPDX-License-Identifier: MIT
# labels: no-tsan
# Runs that are told to stop, that are killed, and that go on: by the commands that people
# type.
source "$(dirname "$0")/cli.bash"

# 400 epochs of ten steps, with noise enough in the order of the data: half a second or so.
cat >long.json <<'E'
{ "lathe": 1, "name": "long", "seed": 1,
  "data": { "train": { "use": "blobs", "samples": 640 },
            "validation": { "use": "blobs", "samples": 60 } },
  "model": { "use": "mlp", "hidden": [32, 32] },
  "optimizer": { "use": "adamw", "lr": 0.001 },
  "train": { "until": "400ep", "batch": 64, "validate": "40ep", "log": "100step" },
  "callbacks": [ { "use": "checkpoint", "every": "30ep", "keep": 2 },
                 { "use": "ema" }, { "use": "csv" } ] }
E
try 0 "$LATHE" run long.json --run-dir whole --quiet

# steps RUN: where its status says it is
steps() { sed -E 's/.*"step": ([0-9]+).*/\1/' "$1/status.json"; }
# begun RUN: waits until it has a checkpoint
begun() { wait_until exists "$1/checkpoints/step-*"; }
# same RUN: it ended as the one that was never stopped
same() {
    tried="$1"
    holds "metrics.jsonl of $1" cmp -s whole/metrics.jsonl "$1/metrics.jsonl"
    holds "results.csv of $1" cmp -s whole/results.csv "$1/results.csv"
    has "$1/status.json" '"reason": "completed"'
}

for signal in TERM:75 HUP:75 INT:130 KILL:137; do
    code=${signal#*:} signal=${signal%:*}
    "$LATHE" run long.json --run-dir "$signal" --quiet 2>err &
    run=$!
    begun "$signal"
    kill "-$signal" "$run" 2>/dev/null
    wait "$run"
    found=$?
    tried="kill -$signal"
    # On a fast machine it may have been over.
    ((found == 0 || found == code)) || complain "exit status $found, not $code"
    try 0 "$LATHE" resume "$signal"
    ((found == 0)) || has err 'going on from'
    ((found != 137)) || has err 'the process ended, killed or crashed, in '
    same "$signal"
    holds 'two checkpoints' test "$(find "$signal/checkpoints" -name 'step-*' | wc -l)" = 2
done

# A time limit, and no limit to how often.
try 75 "$LATHE" run long.json --run-dir limited --time-limit 0.05s train.until=1000000ep
has limited/status.json '"reason": "preempted", "exit_code": 75'
try 64 "$LATHE" run long.json --time-limit 5ep
has err '"5ep" is no time limit'

# SIGUSR1 saves, and the run goes on.
"$LATHE" run long.json --run-dir saved --quiet callbacks.checkpoint.every=off train.until=1000000ep &
run=$!
wait_until test -s saved/metrics.jsonl
kill -USR1 "$run"
begun saved
# Two processes at one run.
try 73 "$LATHE" resume saved
has err 'another process is at it'
kill -KILL "$run"
wait "$run" 2>/dev/null
try 75 "$LATHE" resume saved --time-limit 0.01s --quiet

# What the start writes without waiting for the disk, as a loss of power may leave it.
"$LATHE" run long.json --run-dir power --quiet 2>/dev/null &
run=$!
begun power
kill -KILL "$run"
wait "$run" 2>/dev/null
: >power/status.json
: >power/environment.json
try 0 "$LATHE" resume power --quiet
same power

# The newest is not whole: it is named, and the one before is used.
try 0 "$LATHE" run long.json --run-dir bad --quiet train.until=200ep callbacks.checkpoint.keep=3
newest=$(readlink -f bad/checkpoints/last.safetensors)
truncate -s -1 "$newest"
try 0 "$LATHE" resume bad train.until=400ep callbacks.checkpoint.keep=2
has err "$(basename "$newest")"
same bad

# So is one whose records are not there any more, or are not what they were.
spoilt() { # spoilt COMMAND…: of a copy of the run, the records
    rm -rf spoilt
    cp -r whole spoilt
    (cd spoilt && "$@")
    records=$(wc -c <whole/metrics.jsonl)
}
spoilt truncate -s -1 metrics.jsonl
try 0 "$LATHE" resume spoilt
has err "warning: checkpoints/step-00004000.safetensors cannot be gone on from (metrics.jsonl has $((records - 1)) bytes, and had $records when this was saved); using the one before"
has err 'going on from'
same spoilt
spoilt sed -i '$s/loss/lozz/' metrics.jsonl
try 0 "$LATHE" resume spoilt
has err "(the first $records bytes of metrics.jsonl are not those that it had when this was saved); using the one before"
same spoilt
spoilt sed -i '3s/loss/lozz/' metrics.jsonl
try 65 "$LATHE" resume spoilt
has err "lathe: the first $records bytes of metrics.jsonl are not those that it had when this was saved"
spoilt rm metrics.jsonl
try 65 "$LATHE" resume spoilt
has err "lathe: metrics.jsonl has 0 bytes, and had $records when this was saved"
has err "where: $PWD/spoilt"
has err 'help: put metrics.jsonl back as it was; or begin another run from the state that is there: lathe run --from spoilt; or move spoilt/checkpoints away'
holds 'nothing is lost' test "$(find spoilt/checkpoints -name 'step-*' | wc -l)" = 2
try 0 "$LATHE" run --from spoilt --run-dir rescued --quiet train.until=401ep
mv spoilt/checkpoints aside
try 0 "$LATHE" resume spoilt --quiet
same spoilt

# From a checkpoint of another run, which stays as it is.
before=$(find whole -type f -exec sha256sum {} + | sort | sha256sum)
try 0 "$LATHE" run --from whole/checkpoints/last.safetensors --run-dir other --quiet train.until=410ep
holds 'it goes on' test "$(steps other)" = 4100
holds 'whole is untouched' test "$before" = \
    "$(find whole -type f -exec sha256sum {} + | sort | sha256sum)"

# What changes numbers is refused, and told.
try 78 "$LATHE" resume limited optimizer.lr=0.5
has err 'optimizer.lr: 0.001 -> 0.5'
has err '--allow-change'
lacks err 'going on'
try 78 "$LATHE" resume limited train.log=7step
has err 'help: records would be means over other steps; leave it'
try 75 "$LATHE" resume limited optimizer.lr=0.5 --allow-change --time-limit 0.01s
has err 'changed: optimizer.lr: 0.001 -> 0.5'

# A run that is over says so, and what would let it train on.
try 0 "$LATHE" resume whole
has err 'the run is over, completed after step 4000: only its end is done again; it trains on when train.until is later'
lacks err 'going on'
try 0 "$LATHE" run long.json --run-dir patient --quiet train.until=1000ep \
    'callbacks=[{"use":"early-stopping","patience":1,"min_delta":9}]'
try 0 "$LATHE" resume patient
has err 'the run is over, stopped after step 800: '
has err 'it trains on when callbacks change'
# What it was not trained with is not put into its records.
records() { (cd "$1" && sha256sum ./*.json ./*.jsonl ./*.csv checkpoints/*); }
records whole >before
try 78 "$LATHE" resume whole train.until=1ep
has err 'the run stands at step 4000, in epoch 400: past train.until "1ep"'
has err "where: $PWD/whole"
has err 'help: leave it as it was (lathe resume whole), or say a later train.until'
try 78 "$LATHE" resume whole optimizer.lr=0.5 --allow-change
has err 'the run is over, completed after step 4000, and was not trained so: optimizer.lr: 0.001 -> 0.5'
has err 'help: leave it as it was, or have it train on: with a later train.until; or begin another run: lathe run --from whole'
try 78 "$LATHE" resume patient optimizer.lr=0.5 --allow-change
has err 'the run is over, stopped after step 800, and was not trained so: '
has err 'have it train on: with other callbacks'
records whole >after
holds 'whole is as it was' cmp before after
# It stands where this ends.
cp -r whole counted
try 0 "$LATHE" resume counted --quiet train.until=4000step
has counted/resolved.json '"until": "4000step"'

# Of two stages the first is over, and the second has a bound of its own.
cat >staged.json <<'E'
{ "lathe": 1, "name": "staged", "seed": 1,
  "data": { "train": { "use": "blobs", "samples": 640 } },
  "model": { "use": "mlp", "hidden": [8] }, "optimizer": { "use": "sgd", "lr": 0.1 },
  "train": { "batch": 64 },
  "stages": [ { "train": { "until": "2ep" } },
              { "train": { "until": "3ep" }, "optimizer": { "use": "adamw", "lr": 0.01 } } ] }
E
try 0 "$LATHE" run staged.json --run-dir staged --quiet
try 0 "$LATHE" resume staged
has err 'it trains on when stages.1.train.until is later'
for longer in 1ep 4ep; do
    try 78 "$LATHE" resume staged "train.until=$longer"
    has err 'help: it is the bound of the first stage, which is over; leave it'
    try 78 "$LATHE" resume staged "train.until=$longer" --allow-change
    has err 'the run is over, completed after step 50, and was not trained so: train.until'
done
try 78 "$LATHE" resume staged stages.1.train.until=2ep --allow-change
has err 'past stages.1.train.until "2ep"'
try 0 "$LATHE" resume staged stages.1.train.until=4ep --allow-change --quiet
holds 'it went further' test "$(steps staged)" = 60

# Where a schedule has its say, it is named.
try 0 "$LATHE" run long.json --run-dir planned --quiet train.until=1ep schedule.use=cosine
try 78 "$LATHE" resume planned train.until=2ep
has err 'help: the rates of the schedule depend on train.until; leave it'

# What is changed in the run's own resolved.json is a change like any other.
cp -r planned edited
sed -i -E 's/"lr": 0\.001\b/"lr": 0.5/' edited/resolved.json
has edited/resolved.json '"lr": 0.5'
try 78 "$LATHE" resume edited
has err 'this would change the numbers of the run: optimizer.lr: 0.001 -> 0.5'

# A plugin that was built anew and kept its version is told.
cp -r "$BUILD/plugins/optimizer/adamw" own
try 0 "$LATHE" run long.json --run-dir built --quiet --plugin-path . train.until=1ep
try 0 "$LATHE" resume built --quiet train.until=2ep
lacks err 'another file'
echo >>own/adamw.so
try 0 "$LATHE" resume built --quiet train.until=3ep
has err 'warning: optimizer adamw (adamw.so 1.0.0) is another file than the one that was at work'
rm -rf own

# The numbers at the end are those of what was visited last.
try 0 "$LATHE" run long.json --run-dir unseen train.until=1ep train.validate=2ep
has err '10 steps in'
has err '; train/loss '
lacks err '; validation/loss'

# The folder of all runs is none of them.
mkdir all all/latest
: >all/latest/resolved.json
try 66 "$LATHE" resume all
has err "name one of the runs in it, such as $PWD/all/latest"

# run --resume: the unfinished run of this file, or a new one.
"$LATHE" run long.json --quiet train.until=1000000ep 2>/dev/null &
run=$!
begun 'runs/long-*'
kill -TERM "$run"
wait "$run"
# The file's own bound may be past, where it was another one at first.
try 78 "$LATHE" run long.json --resume train.until=1step
run=runs/$(readlink runs/latest)
has err 'past train.until "1step"'
has err "help: leave it as it was (lathe resume $run), or say a later train.until"
has "$run/resolved.json" '"until": "1000000ep"'
has "$run/status.json" '"reason": "preempted"'
try 0 "$LATHE" run long.json --resume --quiet train.until=400ep
holds 'one run' test "$(find runs -mindepth 1 -maxdepth 1 -type d | wc -l)" = 1
try 0 "$LATHE" run long.json --resume --quiet train.until=1ep
holds 'two runs' test "$(find runs -mindepth 1 -maxdepth 1 -type d | wc -l)" = 2
try 0 "$LATHE" resume latest --quiet
try 64 "$LATHE" run long.json --resume --from x
try 66 "$LATHE" resume nowhere
has err 'there is no such run'
mkdir empty
try 66 "$LATHE" resume empty
has err 'no resolved.json'
verdict
