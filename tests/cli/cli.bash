# SPDX-License-Identifier: MIT
# What the tests of the command line share. A test runs commands with `try`, looks at what
# they left, and ends with `verdict`. It starts in an empty directory of its own.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
faults=0
unset LATHE_PLUGIN_PATH NO_COLOR

# Before a command: as somebody who owns nothing. can_be_nobody: that is possible, and lets
# one in where the build is.
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
can_be_nobody() {
    [[ $(id -u) == 0 ]] && "${nobody[@]}" "$LATHE" --version >/dev/null 2>&1
}

# try CODE COMMAND…: runs it with out and err as its output; its exit status has to be CODE
try() {
    local expected=$1 code
    shift
    tried="$*"
    "$@" >out 2>err
    code=$?
    ((code == expected)) || complain "exit status $code, not $expected"
}

complain() {
    faults=$((faults + 1))
    printf '%s\n    %s\n' "$tried" "$*" >&2
    sed 's/^/    | /' out err | head -20 >&2
}

# has FILE TEXT / lacks FILE TEXT: somewhere in it
has() { grep -qF -- "$2" "$1" || complain "$1 does not have: $2"; }
lacks() { ! grep -qF -- "$2" "$1" || complain "$1 has: $2"; }
# is FILE TEXT: all of it, a newline at its end apart
is() { [[ $(<"$1") == "$2" ]] || complain "$1 is not: $2"; }
is_empty() { [[ ! -s $1 ]] || complain "$1 is not empty"; }
# holds WHAT COMMAND…: the command succeeds
holds() {
    local what=$1
    shift
    "$@" || complain "$what"
}

# wait_until COMMAND…: until it succeeds; a machine may be busy, so only a minute is too long
wait_until() {
    for ((i = 0; i < 3000; i++)); do
        "$@" && return
        sleep 0.02
    done
    complain "for a minute this has not come true: $*"
}
# exists GLOB: at least one
exists() { compgen -G "$1" >/dev/null; }
# has_ended PID: one that waits to be reaped has
has_ended() { ! grep -q '^State:.[^ZX]' "/proc/$1/status" 2>/dev/null; }

verdict() {
    ((faults == 0)) || { echo "$faults faults" >&2; exit 1; }
}

# A quick experiment: four epochs of ten steps on made-up points.
small() {
    cat >small.json <<'END'
{ "lathe": 1, "name": "small", "seed": 1,
  "data": { "train": { "use": "blobs", "samples": 320 },
            "validation": { "use": "blobs", "samples": 60 },
            "test": { "use": "blobs", "samples": 60 } },
  "model": { "use": "mlp", "hidden": [8] },
  "optimizer": { "use": "sgd", "lr": 0.1 },
  "train": { "until": "4ep", "batch": 32 },
  "callbacks": [ { "use": "progress" } ] }
END
}
