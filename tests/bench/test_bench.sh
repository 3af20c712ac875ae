# SPDX-License-Identifier: MIT
# ./dev bench: what it refuses, and that it saves what it measured.
source "$SOURCE/tests/cli/cli.bash"
bench=$BUILD/bin/bench
[[ -z $SANITIZE ]] || { echo "skipped: the bench has no sanitizers" >&2; exit 77; }
export TMPDIR=$scratch

measure() { "$bench" "$SOURCE" "$scratch/build" "$@"; }
mkdir build
ln -s "$BUILD/bin" "$BUILD/plugins" "$BUILD/tests" build/

for wrong in steps "--peer" "--peer jax" "--peer torch host" "--json" "--rounds 0" "--rounds 33" \
    "--rounds x" "--fast 1"; do
    # shellcheck disable=SC2086
    try 64 measure $wrong
    has err "usage: ./dev bench"
    has err "parts: step start memory warm scan host static save mlp words"
    is_empty out
done

# A number, and where it is saved.
try 0 env -u OPENBLAS_L2_SIZE OPENBLAS_CORETYPE=Haswell "$bench" "$SOURCE" "$scratch/build" host --json saved.json
has out "machine "
has out "ignored, for both sides: OPENBLAS_CORETYPE=Haswell"
has out "one step of one weight, eight empty callbacks"
has out "saved   saved.json"
has saved.json '"ignored": "OPENBLAS_CORETYPE=Haswell"'
has saved.json '{ "part": "host", "name": "one step of one weight, eight empty callbacks", "value": '
has saved.json '"bound": "at most", "limit": 2'
lacks saved.json 'null'

# A comparison: ratios, and the rounds they come from; saved under the time's name.
try 0 measure words --rounds 2
has out "lathe: lines of JSON"
saved=$(sed -n 's/^saved   //p' out)
[[ $saved == "$scratch"/build/bench/*Z.json ]] || complain "saved as \"$saved\""
has "$saved" '"name": "to the first metric"'

try 73 measure words --rounds 1 --json missing/file.json
has err "missing/file.json cannot be written"
holds "nothing is left" test -z "$(find "$scratch" -maxdepth 1 -name 'lathe-bench-*')"
verdict
