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
try 0 "$LATHE" resume saved train.until=1step --quiet

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
try 0 "$LATHE" resume limited optimizer.lr=0.5 --allow-change train.until=1ep
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
try 75 "$LATHE" run long.json --time-limit 0.05s --quiet train.until=1000000ep
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
