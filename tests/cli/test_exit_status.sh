# SPDX-License-Identifier: MIT
# Exit statuses as the manual has them, where the system is what refuses: no working
# directory, no descriptors, no permission, no room for what is printed.
source "$(dirname "$0")/cli.bash"
export HOME=$scratch/own # whose cache is removed again and again
mkdir "$HOME"
small
try 0 "$LATHE" run small.json --quiet
try 0 "$LATHE" pack small.json
run=runs/$(readlink runs/latest)
cp -r "$run" ref
try 0 "$LATHE" run small.json --run-dir other --quiet optimizer.lr=0.2

# ---- the working directory is gone ----
# away CODE WORD…: in a directory that somebody has removed
away() {
    mkdir away
    try "$1" bash -c 'cd away && rmdir ../away && exec "$@"' - "$LATHE" "${@:2}"
}
for words in 'run ../small.json' "run $scratch/small.json" "eval $scratch/ref" 'inspect x/y' \
    "unpack $scratch/small.lathe -o x" "predict $scratch/ref -o -" 'plugins --plugin-path x'; do
    # shellcheck disable=SC2086
    away 66 $words
    has err 'lathe: the working directory is gone'
done
away 0 run "$scratch/small.json" --run-dir "$scratch/from-away" --quiet

# ---- no descriptors ----
# Whatever cannot be opened for want of one, it is that; and no data is blamed.
limits='4 5 6 7 8 9 10 11 12'
[[ -z ${SANITIZE:-} ]] || limits=12 # they want some of their own when the program ends
for limit in $limits; do
    for words in 'run small.json --quiet --run-dir few' 'run small.lathe --quiet --run-dir few' \
        'eval ref' 'pack small.json -o few.lathe' 'predict ref -o few.csv' 'new callback few'; do
        rm -rf few "$HOME/.cache"
        tried="ulimit -n $limit; lathe $words"
        # shellcheck disable=SC2086
        (exec >out 2>err </dev/null && ulimit -n "$limit" && exec "$LATHE" $words)
        code=$?
        # Where some are taken already, the program itself cannot be loaded.
        ((code != 127)) || ! grep -q 'error while loading shared libraries' err || continue
        ((code == 0 || code == 71)) || complain "exit status $code, neither 0 nor 71"
        lacks err 'was changed in the store'
        lacks err 'install that library'
    done
done

# ---- what is printed does not arrive ----
if [[ -w /dev/full ]]; then
    for words in 'diff ref ref' 'diff ref other' 'reproduce ref --json' 'validate small.json --json' \
        'validate small.json train.batch=0 --json' 'explain small.json' 'eval ref' plugins help \
        'inspect mlp' schema 'verify small.lathe' 'run small.json --json --run-dir full' \
        'run small.json train.batch=0 --json' 'pack small.json -o full.lathe' 'check --list' \
        'predict ref -o -' --version 'new callback full' 'unpack small.lathe -o unpacked'; do
        tried="lathe $words >/dev/full"
        # shellcheck disable=SC2086
        "$LATHE" $words >/dev/full 2>err
        code=$?
        ((code == 74)) || complain "exit status $code, not 74"
        holds 'said once' test "$(grep -c 'cannot write to standard output' err)" = 1
        rm -rf full
    done
fi

# ---- no permission ----
if can_be_nobody; then
    mkdir home && chmod 755 . && chown -R 65534 home runs small.json
    # refused WORD…: as somebody else; 77
    somebody() {
        try "$1" "${nobody[@]}" env HOME="$scratch/home" "$LATHE" "${@:2}"
    }
    chmod 000 "$run"
    somebody 77 resume latest
    chmod 755 "$run" && chown 0 "$run"
    somebody 77 resume latest
    has err 'cannot go on with this run: Permission denied'
    chown 65534 "$run" && chown 0 runs
    somebody 77 run small.json
    has err 'cannot make the run directory: Permission denied'
    # The link leads there already; where it does not, that is no reason to stop.
    somebody 0 resume latest --quiet
    is_empty err
    ln -sfn elsewhere runs/latest
    somebody 0 resume "$run" --quiet
    has err 'runs/latest: cannot switch the link: Permission denied'
    somebody 77 pack small.json -o new.lathe
    somebody 77 predict "$run" -o new.csv
    somebody 77 unpack small.lathe -o new
    somebody 77 run small.json --run-dir home/new --trace new
    somebody 0 reproduce "$run"
fi
verdict
