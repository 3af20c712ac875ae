# SPDX-License-Identifier: MIT
# What is not whole yet does not stay: one that is told to end takes it away, and what one
# that was killed has left goes with the next; what somebody is still at stays.
[[ ! -w /dev/shm ]] || export TMPDIR=/dev/shm
source "$(dirname "$0")/bundle.bash"
preload
points here
mkdir there
# disturbed AT SIGNAL COMMAND…
disturbed() {
    tried="${*:3}, signal $2 at $1"
    (env KILL_AT="$1" KILL_WITH="$2" UNDER="$PWD/there" LD_PRELOAD="$PWD/preload.so" "${@:3}" \
        >out 2>err
        exit $?) 2>/dev/null
}
leftovers() { find there -mindepth 1 -name '.*' | wc -l; }

# ---- packing, and unpacking for somebody to look at ----
try 0 "$LATHE" pack here/points.json -o x.lathe
pack=("$LATHE" pack here/points.json -o there/x.lathe)
unpack=("$LATHE" unpack x.lathe -o there/folder)
for command in pack unpack; do
    declare -n words=$command
    for number in 1 2 15; do
        disturbed 3 $number "${words[@]}"
        holds 'it ended by the signal' test $? = $((128 + number))
        holds 'nothing is left' test -z "$(ls -A there)"
    done
    disturbed 3 9 "${words[@]}"
    holds 'it was killed' test $? = 137
    holds 'something was left' test "$(leftovers)" != 0
    mkdir there/."$command"-a there/."$command"-abcdefg && : >there/."$command"-abcdef
    try 0 "${words[@]}"
    holds 'what others have stays' test "$(leftovers)" = 3
    rm -r there/* there/.p* there/.u* 2>/dev/null
done

# Into a folder that is there and empty: killed before each call in turn, all of the bundle
# is there or nothing, and what lies beside goes with the next.
mkdir there/in wanted && chmod 750 there/in
try 0 "$LATHE" unpack x.lathe -o wanted
into=("$LATHE" unpack x.lathe -o there/in)
for ((at = 1; at < 400; at++)); do
    disturbed $at 9 "${into[@]}"
    code=$?
    ((code != 0)) || break
    holds 'it was killed' test $code = 137
    holds 'all or nothing' eval '[[ -z $(ls -A there/in) ]] || diff -r wanted there/in'
    rm -r there/in && mkdir -m 750 there/in
done
holds "killed at many points, not at $at" test "$at" -gt 40
holds 'all is there' diff -r wanted there/in
holds 'its mode stays' test "$(stat -c %a there/in)" = 750
holds 'nothing is left over' test "$(leftovers)" = 0
rm -r there/in

# Into the one that somebody is in: nothing of it stays of one that is told to end.
into=(env -C there "$LATHE" unpack ../x.lathe -o .)
for at in 3 20 40; do
    disturbed $at 15 "${into[@]}"
    holds 'it ended by the signal' test $? = 143
    holds 'nothing is left' test -z "$(ls -A there)"
done
disturbed 20 9 "${into[@]}"
holds 'it was killed' test $? = 137
holds 'something was left' test "$(leftovers)" != 0
try 0 "${into[@]}"
holds 'all is there' test -f there/bundle.json -a "$(leftovers)" = 0
rm -r there && mkdir there

# Whoever has it ignored, as under nohup, goes on.
(trap '' HUP; disturbed 3 1 "${pack[@]}")
holds 'it went on' cmp -s x.lathe there/x.lathe
rm there/x.lathe

# One at work is not disturbed by another.
mkdir there/.pack-abcdef
exec 9<there/.pack-abcdef
flock 9
try 0 "${pack[@]}"
holds 'it stays' test -d there/.pack-abcdef
exec 9<&-
try 0 "${pack[@]}"
holds 'it goes' test "$(leftovers)" = 0

# ---- a run that is done again ----
small
try 0 "$LATHE" run small.json --quiet --run-dir there/run train.until=300ep data.train.samples=20000
# again SIGNAL: ended while it runs
again() {
    "$LATHE" reproduce there/run --quiet >out 2>err &
    tried="reproduce, signal $1"
    wait_until exists 'there/.reproduce-*/run/status.json'
    kill "-$1" $!
    wait $! 2>/dev/null
}
for number in 1 2 15; do
    again $number
    holds 'it has ended' test $? != 0
    holds 'nothing is left' test "$(leftovers)" = 0
done
again 9
holds 'something was left' test "$(leftovers)" != 0
try 0 "$LATHE" reproduce there/run --steps 100 --keep
has err "kept: $PWD/there/.reproduced-"
holds 'what is kept alone' test "$(find there -maxdepth 1 -name '.*' | wc -l)" = 1
try 0 "$LATHE" reproduce there/run --steps 100 --quiet --keep
has err "kept: $PWD/there/.reproduced-"
holds 'both are kept' test "$(find there -maxdepth 1 -name '.*' | wc -l)" = 2
verdict
