# SPDX-License-Identifier: MIT
# Nothing half made stays: a command that is told to end removes it, and what one that was
# killed has left is removed by the next.
source "$(dirname "$0")/cli.bash"
small
mkdir tmp
export TMPDIR=$scratch/tmp
try 0 "$LATHE" run small.json --run-dir run --quiet

# begun GLOB WORD…: the command runs and has made that; $command is its process
begun() {
    tried="${*:2}"
    "$LATHE" "${@:2}" >out 2>err &
    command=$!
    wait_until exists "$1"
}
# ended SIGNAL CODE: it is told to end, and does
ended() {
    kill "-$1" $command
    wait $command 2>/dev/null
    code=$?
    ((code == $2)) || complain "exit status $code after SIG$1, not $2"
}

# ---- predict ----
many='data.many={"use":"blobs","samples":1000000000}'
for signal in HUP:129 INT:130 TERM:143; do
    begun '.predict-*/*' predict run -o many.csv "$many" --on many
    ended "${signal%:*}" "${signal#*:}"
    holds 'nothing is left' test -z "$(find . -name '.predict-*' -o -name 'many.csv')"
done
begun '.predict-*/*' predict run -o many.csv "$many" --on many
ended KILL 137
killed=$(echo .predict-*)
begun ".predict-*/*" predict run -o many.csv "$many" --on many
wait_until test ! -e "$killed"
wait_until exists '.predict-*/*'
living=$(echo .predict-*)
try 0 "$LATHE" predict run -o few.csv
holds 'the living one stays' test -e "$living"
ended TERM 143
holds 'nothing is left' test -z "$(find . -name '.predict-*')"

# ---- check ----
for signal in HUP:129 TERM:143; do
    begun 'tmp/lathe-check-*/*' check blobs
    ended "${signal%:*}" "${signal#*:}"
    lacks out FAIL
    holds 'nothing is left' test -z "$(ls tmp)"
done
begun 'tmp/lathe-check-*/*' check blobs
ended KILL 137
holds 'something is left' exists 'tmp/lathe-check-*'
try 0 "$LATHE" check blobs --only functions
holds 'nothing is left' test -z "$(ls tmp)"

# ---- new ----
# No room: not a byte can be written to a file. The thread sanitizer wants some before main.
tried='new callback full'
[[ ${SANITIZE:-} == *thread* ]] ||
    (ulimit -f 0 && exec "$LATHE" new callback full 2>&1) | grep -q 'File too large' ||
    complain 'there was room'
holds 'nothing is left' test -z "$(find . -name full -o -name '.new-*')"
try 0 "$LATHE" new callback full
holds 'its modes are those of others' test "$(stat -c %a full)" = "$(mkdir like && stat -c %a like)"
mkdir .new-killed
try 0 "$LATHE" new callback next
holds 'what was left is gone' test ! -e .new-killed
try 64 "$LATHE" new callback next
has err '"next" is there already'

# ---- run ----
# A path that is too long, and a name: what was made on the way to it is not left.
part=$(printf 'x%.0s' {1..200}) long=long
for ((i = 0; i < 30; i++)); do long+=/$part; done
for directory in "$long" "long/$part/$part$part"; do
    try 73 "$LATHE" run small.json --run-dir "$directory"
    has err 'File name too long'
    holds 'nothing is left' test ! -e long
done
verdict
