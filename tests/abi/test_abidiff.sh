# SPDX-License-Identifier: MIT
# Today's headers against the kept ones, by a judge that is not ours: abidiff sees no change
# in the structs that cross, but for members that were appended. A changed one is seen.
set -u
command -v abidiff >/dev/null || { echo "no abidiff (abigail-tools)"; exit 77; }
[[ -z $SANITIZE ]] || exit 77
abi=$SOURCE/tests/abi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
faults=0

complain() {
    printf '%s\n' "$*" >&2
    faults=$((faults + 1))
}

# build HEADERS LIBRARY
build() {
    "$CC" -std=c11 -g -O0 -shared -fPIC -fvisibility=hidden -I "$1" -I "$abi" \
        "$abi/probe.c" -o "$scratch/$2" || complain "the probe does not build with $1"
}

# differs OLD NEW: what abidiff says; members that were only appended are left out
differs() {
    abidiff --no-show-locs "$scratch/$1" "$scratch/$2" >"$scratch/report" 2>&1
    local code=$?
    ((code & 3)) && complain "abidiff failed: $(<"$scratch/report")"
    ((code & 8)) && return 0
    grep -Eq 'offset changed|data member deletion|type name changed|entity changed' \
        "$scratch/report"
}

build "$abi/kept" kept.so
build "$SOURCE/sdk/include" today.so
! differs kept.so today.so || complain "the ABI changed: $(<"$scratch/report")"

# A judge that never says no is none.
for change in 's/uint32_t needs;/uint64_t needs;/' 's/uint32_t needs;/float needs;/' \
    '/uint32_t built;/d'; do
    rm -rf "$scratch/changed"
    cp -r "$SOURCE/sdk/include" "$scratch/changed"
    sed -i "/typedef struct lathe_plugin/,/} lathe_plugin;/{$change}" \
        "$scratch/changed/lathe/abi.h"
    cmp -s "$SOURCE/sdk/include/lathe/abi.h" "$scratch/changed/lathe/abi.h" &&
        complain "\"$change\" changed nothing"
    build "$scratch/changed" changed.so
    differs kept.so changed.so || complain "abidiff does not see $change"
done
# What was appended is allowed.
cp -r "$SOURCE/sdk/include/." "$scratch/changed"
sed -i 's/^} lathe_metric_view;/int64_t later;&/' "$scratch/changed/lathe/host.h"
build "$scratch/changed" appended.so
! differs kept.so appended.so || complain "an appended member: $(<"$scratch/report")"

exit $((faults > 0))
