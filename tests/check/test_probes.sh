# SPDX-License-Identifier: MIT
# labels: no-tsan
# The probe kit's sound plugins pass the conformance kit. Those that are there to misbehave
# do so in the tests whose business it is.
set -u
source "$(dirname "${BASH_SOURCE[0]}")/check.bash"
cd "$scratch" || exit 1

# fails_in DIRECTORY TEST TEXT: there, and nowhere else
fails_in() {
    local failed
    checked=$((checked + 1))
    "$LATHE" check "$1" --seed 1 >"$scratch/out" 2>&1
    failed=$(grep -oE '^FAIL +[a-z]+' "$scratch/out" | sed 's/FAIL *//' | tr '\n' ' ')
    [[ $failed == "$2 " ]] || complain "$1 fails in $failed, not in $2: $(cat "$scratch/out")"
    grep -qF -- "$3" "$scratch/out" || complain "$1: no \"$3\" in $(cat "$scratch/out")"
}

check_plugin "$PROBES/callback/empty"
check_plugin "$PROBES/callback/recorder" --with '{ "file": "record.txt" }'
check_plugin "$PROBES/callback/stamp" --with '{ "file": "stamp.txt" }'
check_plugin "$PROBES/callback/chaos" --with '{ "act": "none" }'
check_plugin "$PROBES/callback/ledger"
check_plugin "$PROBES/dataset/slow"
check_plugin "$PROBES/dataset/keeper"
check_plugin "$PROBES/dataset/backwards"
fails_in "$PROBES/dataset/ids" options 'with asks="block": it asked for a block'

# One of its options ends the process; that it refers to exit is told.
checked=$((checked + 1))
"$LATHE" check "$PROBES/model/scalar" --seed 1 >"$scratch/out" 2>&1 ||
    complain "model/scalar: $(grep -v '^ok' "$scratch/out")"
grep -qE '^warn +calls +it refers to .*exit \(ends' "$scratch/out" ||
    complain "model/scalar: no warning of exit: $(cat "$scratch/out")"
verdict
