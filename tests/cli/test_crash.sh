# SPDX-License-Identifier: MIT
# A plugin that brings the process down is named, and the run says what became of it.
source "$(dirname "$0")/cli.bash"
small
chaos() { echo 'callbacks=[{"use":"chaos","act":"'"$1"'","point":"'"${2:-step_end}"'","at":3}]'; }
run() { rm -rf run && "$LATHE" run small.json --plugin-path "$PROBES" --quiet --run-dir run "$@"; }

# ---- the ring of calls ----
try 0 run
holds 'a normal end leaves no ring' test ! -e run/calls.ring
try 70 run "$(chaos fail)"
holds 'nor does a failure that is told' test ! -e run/calls.ring
tried='a run that is killed'
run "$(chaos kill)" 2>err
holds 'killed' test $? = 137
holds 'its ring stays' test -s run/calls.ring
has run/calls.ring 'callbacks[0] chaos (chaos.so 1.0.0)'

# ---- a plugin that exits ----
rude() { echo 'callbacks=[{"use":"rude","act":"'"$1"'","point":"'"${2:-step_end}"'"}]'; }
scalar() { echo 'model={"use":"scalar","act":"'"$1"'"}'; }
ids='{"use":"ids","count":100}'
on_ids=(data.train="$ids" data.validation="$ids" data.test="$ids" train.shards=2 train.threads=2
    'callbacks=[]')
# noted STEP [RECORD]: the run has failed there, in status.json, and its last records say so
noted() {
    has run/status.json '"state": "ended", "reason": "failed", "exit_code": 70'
    has run/status.json "\"step\": $1, "
    holds 'its size is as before' test "$(stat -c %s run/status.json)" = 512
    [[ -n ${2:-} ]] || return 0
    holds 'the error' grep -q "^{\"event\":\"error\",\"exit_code\":70,\"message\":\"$2" <(tail -2 out)
    holds 'the end' grep -qE "^\{\"event\":\"end\",\"reason\":\"failed\",\"epochs\":0,\"steps\":$1,\"samples\":[0-9]+,\"run\":\"$PWD/run\",\"metrics\":\{\},\"seed\":1\}\$" <(tail -1 out)
}
for act in exit quick-exit; do
    try 70 run "$(rude $act)" --json
    has err 'lathe: a plugin called exit'
    has err '  where: callbacks[0] rude (rude.so 1.0.0) in step_end at epoch 1 step 1 (thread 0)'
    noted 1 'a plugin called exit'
    has run/calls.ring 'callbacks[0] rude'
done
try 70 run "$(rude exit create)" --json
has err '  where: callbacks[0] rude (rude.so 1.0.0) in create (thread 0)'
is out '{"event":"error","exit_code":70,"message":"a plugin called exit, which ends the whole program","where":"callbacks[0] rude (rude.so 1.0.0) in create (thread 0)","help":"a plugin reports a failure by its return value"}
{"event":"end","reason":"failed","epochs":0,"steps":0,"samples":0,"run":null,"metrics":{}}'
try 70 run "$(rude exit destroy)" --json train.until=3step
has err ' in destroy at epoch 1 step 3'
noted 3 'a plugin called exit'
holds 'one end' test "$(grep -c '"event":"end"' out)" = 1
try 70 run "$(scalar exit)" "${on_ids[@]}" --json
has err 'model scalar (scalar.so 1.0.0) in forward at epoch 1 step 0 (thread 1)'
noted 0 'a plugin called exit'

# Nobody can prevent _exit, but who looks can tell.
try 0 run "$(rude vanish)" --json
lacks out '"event":"end"'
has run/status.json '"state": "running", "reason": null'
try 0 "$LATHE" resume run --plugin-path "$PROBES" 'callbacks=[]'
has err 'the process ended, killed or crashed, in callbacks[0] rude (rude.so 1.0.0) in step_end at epoch 1 step 1'
has run/status.json '"state": "ended", "reason": "completed"'

# Commands that begin no run.
for command in 'eval run' 'predict run -o -' 'explain small.json'; do
    # shellcheck disable=SC2086
    try 70 "$LATHE" $command --plugin-path "$PROBES" "$(rude exit create)"
    has err 'lathe: a plugin called exit'
    has err '  where: callbacks[0] rude (rude.so 1.0.0) in create (thread 0)'
    is_empty out
done

# ---- Ctrl-C while a plugin stalls ----
rm -rf run
"$LATHE" run small.json --plugin-path "$PROBES" --quiet --run-dir run "$(chaos stall)" 2>err &
tried='Ctrl-C twice'
wait_until grep -q 'chaos stalls' err
# ctrl_c PID: a second one may come before the first is noticed, and be lost
ctrl_c() {
    kill -INT "$1"
    has_ended "$1"
}
wait_until ctrl_c $!
wait $!
holds 'ended at once' test $? = 130
has err 'lathe: interrupted during callbacks[0] chaos (chaos.so 1.0.0) in step_end at epoch 1 step 3'

if [[ -n ${SANITIZE:-} ]]; then # they report crashes themselves
    verdict
    exit
fi

# ---- crashes ----
crashed() { # SIGNAL WHO
    has err "lathe: $1 in $2"
    has run/crash.txt ": $1 in $2"
    has run/crash.txt 'The last calls, the newest first'
    has run/crash.txt 'Backtrace'
    has run/status.json '"state": "ended", "reason": "failed", "exit_code": 70, "epoch": 1, "step": '
    holds 'its size is as before' test "$(stat -c %s run/status.json)" = 512
    has err "crash.txt"
}
who='callbacks[0] chaos (chaos.so 1.0.0)'
for pair in segfault=SIGSEGV overflow=SIGSEGV abort=SIGABRT; do
    try 70 run "$(chaos "${pair%=*}")"
    crashed "${pair#*=}" "$who in step_end at epoch 1 step 3 (thread 0)"
    is_empty out
    has run/status.json '"step": 3'
    # With libbacktrace, the line; else the library.
    grep -qE 'chaos\.(c:[0-9]|so\()' run/crash.txt || complain 'no frame of the plugin'
done
try 70 run "$(chaos segfault validation_end)"
crashed SIGSEGV "$who in validation_end"
holds 'the last 64 calls' test "$(sed -n '/^The last/,/^$/p' run/crash.txt | grep -c thread)" = 64
for pair in segfault=SIGSEGV abort=SIGABRT; do
    try 70 run "$(chaos "${pair%=*}")" --json
    noted 3 "${pair#*=} in callbacks\\[0\\] chaos (chaos.so 1.0.0) in step_end"
done

# On the other thread, whose stack may be at its end.
for pair in crash=SIGSEGV overflow=SIGSEGV divide=SIGFPE; do
    try 70 run "$(scalar "${pair%=*}")" "${on_ids[@]}" --json
    crashed "${pair#*=}" 'model scalar (scalar.so 1.0.0) in forward at epoch 1 step 0 (thread 1)'
    noted 0 "${pair#*=} in model scalar"
done

# A run that crashed goes on.
try 70 run "$(chaos segfault)"
try 0 "$LATHE" resume run --plugin-path "$PROBES" 'callbacks=[]'
has run/status.json '"state": "ended", "reason": "completed"'
holds 'no ring' test ! -e run/calls.ring
verdict
