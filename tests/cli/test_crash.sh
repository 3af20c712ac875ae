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
try 70 run 'callbacks=[{"use":"rude","act":"exit","point":"step_end"}]'
has err 'lathe: a plugin called exit'
has err '  where: callbacks[0] rude (rude.so 1.0.0) in step_end at epoch 1 step 1 (thread 0)'
try 70 run 'callbacks=[{"use":"rude","act":"exit","point":"create"}]'
has err '  where: callbacks[0] rude (rude.so 1.0.0) in create (thread 0)'

# ---- Ctrl-C while a plugin stalls ----
rm -rf run
"$LATHE" run small.json --plugin-path "$PROBES" --quiet --run-dir run "$(chaos stall)" 2>err &
tried='Ctrl-C twice'
for ((i = 0; i < 500; i++)); do
    [[ ! -s run/calls.ring ]] || break
    sleep 0.02
done
sleep 0.5
kill -INT $!
sleep 0.2
kill -INT $!
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
try 70 run "$(chaos segfault)" --json
holds 'an error is the last record' grep -q \
    '^{"event":"error","exit_code":70,"message":"SIGSEGV in callbacks\[0\] chaos' <(tail -1 out)

# On the other thread.
scalar='model={"use":"scalar","crash":true}'
ids='{"use":"ids","count":100}'
try 70 run "$scalar" data.train="$ids" data.validation="$ids" data.test="$ids" \
    train.shards=2 train.threads=2 'callbacks=[]'
crashed SIGSEGV 'model scalar (scalar.so 1.0.0) in forward at epoch 1 step 0 (thread 1)'

# A run that crashed goes on.
try 70 run "$(chaos segfault)"
try 0 "$LATHE" resume run --plugin-path "$PROBES" 'callbacks=[]'
has run/status.json '"state": "ended", "reason": "completed"'
holds 'no ring' test ! -e run/calls.ring
verdict
