# SPDX-License-Identifier: MIT
# lathe run as its user sees it: what goes where, with which exit status, and what is left.
source "$(dirname "$0")/cli.bash"
small

# ---- a run that ends well ----
try 0 "$LATHE" run small.json
is_empty out
has err 'completed: 4 epochs, 40 steps in '
holds 'a line for each epoch' test "$(grep -c '^epoch [1-4]/4  train loss ' err)" = 4
lacks err $'\033'
cp err four-epochs
try 0 "$LATHE" run small.json train.until=1step --run-dir one-step
has err 'completed: 0 epochs, 1 step in '
cp four-epochs err
holds 'one run and the link' test "$(ls runs | wc -l)" = 2
holds 'the link is relative' grep -qE '^small-[0-9]{8}T[0-9]{6}Z-[0-9a-f]{4}$' \
    <(readlink runs/latest)
for file in environment.json experiment.json log.txt metrics.jsonl resolved.json \
    status.json timing.jsonl; do
    holds "runs/latest/$file" test -s "runs/latest/$file"
done
holds 'experiment.json as given' cmp -s small.json runs/latest/experiment.json
has runs/latest/status.json '"state": "ended", "reason": "completed", "exit_code": 0'
has runs/latest/environment.json '"name": "blobs"'

try 0 "$LATHE" run small.json --quiet --run-dir quiet
is_empty out
is_empty err
try 0 "$LATHE" run small.json -v --run-dir verbose
is_empty out

# ---- --json ----
try 0 "$LATHE" run small.json --json --run-dir json
is_empty err
holds 'records, then the end' test "$(tail -1 out | cut -c1-36)" = \
    '{"event":"end","reason":"completed",'
has out '"epochs":4,"steps":40,"samples":1280,"run":"'"$scratch"'/json","metrics":{'
has out '"test/accuracy":'
head -n -1 out >records
holds 'metrics.jsonl and stdout agree' cmp -s records json/metrics.jsonl
for split in train validation test; do
    holds "records of $split" grep -qE "^\{\"split\":\"$split\",\"epoch\":[0-9]+,\"step\"" out
done

# ---- what fails before step 0 leaves nothing, and is told in three lines ----
mkdir full && touch full/x
listing=$(ls)
try 66 "$LATHE" run missing.json
has err 'lathe: '
has err 'missing.json'
try 66 "$LATHE" run .
is err 'lathe: a directory is not an experiment
  where: .
  help: name the experiment file in it: lathe run ./NAME.json'
try 78 "$LATHE" run small.json optimizer.lrr=1 --run-dir failed
has err 'optimizer.lrr'
has err '  help: did you mean "lr"?'
try 78 "$LATHE" run small.json train.until=10 --run-dir failed --json
holds 'an error and an end' test "$(wc -l <out)" = 2
holds 'the error' grep -qE '^\{"event":"error","exit_code":78,"message":".*","where":"' out
holds 'the end' test "$(tail -1 out)" = '{"event":"end","reason":"failed","epochs":0,"steps":0,"samples":0,"run":null,"metrics":{}}'
try 69 "$LATHE" run small.json model.use=mpl --run-dir failed
has err '"mlp"'
try 73 "$LATHE" run small.json --run-dir full
has err 'lathe: cannot make the run directory: it is not empty'
has err "  where: $scratch/full"
try 73 "$LATHE" run small.json --run-dir small.json/x
holds 'nothing is left' test "$(ls)" = "$listing"

# ---- endings ----
try 1 "$LATHE" run small.json 'expect={"test/accuracy": "> 1"}' --run-dir gate --json
holds 'the error is told before the end' test "$(tail -2 out | cut -c1-17)" = \
    '{"event":"error",
{"event":"end","r'
has err 'test/accuracy'
has gate/status.json '"exit_code": 1'

long() {
    "$LATHE" run small.json train.until=100000ep train.validate=off --run-dir "$@" \
        >out 2>err &
    run=$!
    wait_until test -s "$1/metrics.jsonl"
}
for ending in INT:130:interrupted TERM:75:preempted HUP:75:preempted; do
    IFS=: read -r signal code reason <<<"$ending"
    tried="kill -$signal"
    long "$signal"
    kill "-$signal" "$run"
    wait "$run"
    holds "exit status $code" test $? = "$code"
    is_empty out
    has "$signal/status.json" "\"reason\": \"$reason\", \"exit_code\": $code"
    long "$signal-json" --json
    kill "-$signal" "$run"
    wait "$run"
    holds "exit status $code" test $? = "$code"
    has out "{\"event\":\"end\",\"reason\":\"$reason\","
done

# ---- a terminal that is closed, under nohup; and an alarm that is nobody's ----
alarming='callbacks=[{"use": "chaos", "point": "batch_begin", "act": "alarm", "at": 5}]'
hanging='callbacks=[{"use": "chaos", "point": "batch_begin", "act": "hang-up", "at": 5}]'
try 75 "$LATHE" run small.json --plugin-path "$PROBES" "$hanging" --run-dir hung --json
has out '{"event":"end","reason":"preempted","epochs":0,"steps":6,'
try 0 nohup "$LATHE" run small.json --plugin-path "$PROBES" "$hanging" --run-dir nohup
has nohup/status.json '"reason": "completed"'
for limit in '' '--time-limit 1h'; do
    rm -rf alarmed
    # shellcheck disable=SC2086
    try 75 "$LATHE" run small.json --plugin-path "$PROBES" "$alarming" --run-dir alarmed $limit
    has err "for a SIGALRM that is not the time limit's"
done
try 75 "$LATHE" run small.json --run-dir short --time-limit 0.05s train.until=1000000ep
lacks err SIGALRM
# SIGUSR1 that comes before there is a run to save is let go by: here it waits for a pipe.
mkfifo fifo
"$LATHE" run small.json --run-dir early --quiet --trace fifo 2>err &
run=$!
waits() { [[ $(readlink "/proc/$run/exe") == *lathe ]] && grep -q '^State:.S' "/proc/$run/status"; }
wait_until waits
kill -USR1 $run
cat fifo >/dev/null
wait $run || complain "exit status $? after an early SIGUSR1"

# ---- a second Ctrl-C does not wait; here both come within one step ----
interrupting='callbacks=[{"use": "chaos", "point": "batch_begin", "act": "interrupt", "at": 5}]'
try 130 "$LATHE" run small.json --plugin-path "$PROBES" "$interrupting" --run-dir once --json
has out '{"event":"end","reason":"interrupted","epochs":0,"steps":6,'
lacks err 'changed what signal'
try 130 "$LATHE" run small.json --plugin-path "$PROBES" "$interrupting" --run-dir twice \
    --json train.accumulate=2
lacks out '"event":"end"'
has twice/status.json '"state": "running"'

# ---- stdout that takes nothing ends the run ----
tried='run --json >/dev/full'
"$LATHE" run small.json train.until=100000ep --json --run-dir dev-full >/dev/full 2>err
holds 'exit status 74' test $? = 74
has err 'lathe: cannot write to standard output: No space left on device'
has dev-full/status.json '"reason": "failed", "exit_code": 74'
tried='run --json | head -1'
{ "$LATHE" run small.json train.until=100000ep --json --run-dir pipe 2>err; echo $? >code; } |
    head -1 >out
is code 74
has err 'lathe: cannot write to standard output: Broken pipe'
has pipe/status.json '"reason": "failed", "exit_code": 74'
holds 'one whole record' grep -qE '^\{"split":.*\}$' out
tried='run >&- 2>&-'
"$LATHE" run small.json --run-dir closed >&- 2>&-
holds 'exit status 0' test $? = 0
lacks closed/metrics.jsonl lathe
lacks closed/metrics.jsonl 'epoch '

# ---- plugins that print, close, exit ----
rude() {
    echo 'callbacks=[{"use": "rude", "act": "'"$1"'", "point": "'"$2"'"}]'
}
for act in print close; do
    for point in create step_end; do
        try 0 "$LATHE" run small.json --plugin-path "$PROBES" "$(rude $act $point)" --json \
            --run-dir "$act-$point"
        head -n -1 out >records
        holds 'stdout has the records alone' cmp -s records "$act-$point/metrics.jsonl"
        lacks "$act-$point/metrics.jsonl" noise
        holds 'the end' test "$(tail -1 out | cut -c1-36)" = \
            '{"event":"end","reason":"completed",'
    done
done
try 0 "$LATHE" run small.json --plugin-path "$PROBES" "$(rude print create)" --json
has err 'noise of a plugin'
try 0 "$LATHE" run small.json --plugin-path "$PROBES" "$(rude print create)"
has out 'noise of a plugin'
try 70 "$LATHE" run small.json --plugin-path "$PROBES" "$(rude exit create)" --run-dir exit
has err 'lathe: a plugin called exit'
holds 'nothing is left' test ! -e exit
try 70 "$LATHE" run small.json --plugin-path "$PROBES" "$(rude exit create)" --json
holds 'the error' grep -q '^{"event":"error","exit_code":70,"message":"a plugin called exit' out
holds 'an error and an end' test "$(wc -l <out)" = 2
try 70 "$LATHE" run small.json --plugin-path "$PROBES" "$(rude exit step_end)" --json \
    --run-dir exit
holds 'an error and an end' grep -q '"event":"end","reason":"failed","epochs":0,"steps":1,' <(tail -1 out)
has exit/status.json '"state": "ended", "reason": "failed", "exit_code": 70'

# ---- one that brings its own threads is named ----
for point in create step_end; do
    try 0 "$LATHE" run small.json --plugin-path "$PROBES" "$(rude threads $point)" --quiet
    # The thread sanitizer starts one of its own with the first.
    own=2
    [[ $SANITIZE != *thread* ]] || own='[23]'
    holds 'who started them' grep -q \
        "callbacks\[0\] rude (rude.so 1.0.0) started $own threads of its own" err
    holds 'said once' test "$(grep -c 'of its own' err)" = 1
done
try 0 "$LATHE" run small.json train.shards=2 train.threads=2 --quiet
lacks err 'of its own'

# ---- told to end while it is opened ----
ending() {
    echo 'callbacks=[{"use": "rude", "id": "first", "act": "'"$1"'", "point": "create"},
        {"use": "rude", "id": "second", "act": "print", "point": "create"}]'
}
try 75 "$LATHE" run small.json --plugin-path "$PROBES" "$(ending terminate)" --run-dir unmade
is err 'lathe: preempted before the run began'
is_empty out
holds 'nothing is made' test ! -e unmade
try 130 "$LATHE" run small.json --plugin-path "$PROBES" "$(ending interrupt)" --json
is out '{"event":"end","reason":"interrupted","epochs":0,"steps":0,"samples":0,"run":null,"metrics":{}}'
lacks err noise
try 130 "$LATHE" resume print-create --plugin-path "$PROBES" "$(ending interrupt)"
has print-create/status.json '"state": "ended", "reason": "completed", "exit_code": 0'

# ---- a full disk, a limit on files ----
tried='run under ulimit -f'
# shellcheck disable=SC2016
(ulimit -f 8 && exec "$LATHE" run small.json train.log=1step train.until=1000ep --quiet \
    --run-dir limited 2>err)
holds 'exit status 74' test $? = 74
has err '.jsonl: File too large'
has limited/status.json '"reason": "failed", "exit_code": 74'
if [[ $(id -u) == 0 ]] && mkdir tiny && mount -t tmpfs -o size=64k tiny tiny 2>/dev/null; then
    try 74 "$LATHE" run small.json train.log=1step train.until=1000ep --quiet \
        --run-dir tiny/run
    has err 'No space left on device'
    has tiny/run/status.json '"reason": "failed", "exit_code": 74'
    umount tiny
fi

# ---- a terminal ----
if command -v script >/dev/null; then
    tried='run on a terminal'
    TERM=xterm script -qec "'$LATHE' run small.json --run-dir terminal" out >/dev/null 2>err
    has out 'epoch 4/4  train loss '
    has out 'completed'
    : >err
fi
verdict
