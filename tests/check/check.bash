# SPDX-License-Identifier: MIT
# check_plugins DIRECTORY…: the conformance kit on each, with what options it needs; every
# failure and warning is told with the plugin's name.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch TMPDIR=$scratch
faults=0 checked=0

complain() {
    printf '%s\n' "$*" >&2
    faults=$((faults + 1))
}

# check_plugin DIRECTORY [FLAG…]: passes, whole, without a warning
check_plugin() {
    local name
    name=$(basename "$(dirname "$1")")/$(basename "$1")
    checked=$((checked + 1))
    "$LATHE" check "$@" --seed "${SEED:-1}" >"$scratch/out" 2>&1
    local code=$?
    ((code == 0)) || complain "$name: exit $code: $(grep -v '^ok' "$scratch/out")"
    ! grep -qE '^(warn|skip)' "$scratch/out" ||
        complain "$name: $(grep -E '^(warn|skip)' "$scratch/out")"
    echo "$name: $(grep passed "$scratch/out")"
}

verdict() {
    echo "$checked plugins, $faults faults"
    ((checked > 0 && faults == 0))
}
