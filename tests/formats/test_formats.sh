# SPDX-License-Identifier: MIT
# What was written in an earlier format is read today: README.md.
source "$(dirname "$0")/../cli/cli.bash"
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE

# close FILE FILE: the same text, and numbers that agree to four digits
close() {
    awk 'function size(x) { return x < 0 ? -x : x }
        {   gsub(/[-+.0-9]+(e[-+]?[0-9]+)?/, "\n&\n"); count = split($0, part, "\n")
            for (i = 1; i <= count; i++)
                if (NR == FNR) first[FNR, i] = part[i]
                else if (first[FNR, i] != part[i]) {
                    a = first[FNR, i]; b = part[i]
                    if (a !~ /^[-+.0-9]/ || b !~ /^[-+.0-9]/ ||
                        size(a - b) > 1e-4 * (size(a) + size(b))) exit bad = 1
                }
            if (NR == FNR) lines++ }
        END { exit bad || FNR != lines }' "$1" "$2"
}

for folder in "$SOURCE"/tests/formats/[0-9]*; do
    golden=${folder##*/}
    cp -r "$folder" "$golden"
    cd "$golden" || exit 1

    # ---- the experiment ----
    try 0 "$LATHE" validate experiment.json
    try 0 "$LATHE" explain experiment.json
    try 0 "$LATHE" run experiment.json --run-dir today --quiet
    holds 'the records of then' close metrics.jsonl today/metrics.jsonl

    # ---- the checkpoint ----
    checkpoint=$(readlink -f run/checkpoints/last.safetensors)
    for what in run "$checkpoint"; do
        try 0 "$LATHE" eval "$what" --json
        sed 's/,"checkpoint":"[^"]*"//' out >evaluated
        grep '"validation"' run/metrics.jsonl | tail -1 >recorded
        # It is `test` that is visited unless something else is asked for.
        has evaluated '"split":"test"'
        try 0 "$LATHE" eval "$what" --json --on validation
        sed 's/,"checkpoint":"[^"]*"//' out >evaluated
        holds 'what was recorded then' close recorded evaluated
    done
    try 0 "$LATHE" predict "$checkpoint" -o - --on test
    try 0 "$LATHE" run --from "$checkpoint" --run-dir further --quiet
    tail -n +9 metrics.jsonl >rest
    holds 'the rest of the records' close rest further/metrics.jsonl

    # ---- the run ----
    try 0 "$LATHE" diff run run
    has out 'the same: 10 steps, 8 records'
    "$LATHE" reproduce run --quiet >out 2>err
    code=$? tried='lathe reproduce run'
    ((code < 2)) || complain "exit status $code"
    has out 'identical: '
    cp run/metrics.jsonl before
    cp -a run resumed
    try 0 "$LATHE" resume resumed --quiet
    holds 'goes on where it was' close metrics.jsonl resumed/metrics.jsonl
    head -8 resumed/metrics.jsonl >kept
    holds 'what was recorded stays' cmp before kept
    has resumed/receipt.json '"reason": "completed"'
    holds 'the average too' test "$(wc -l <resumed/results.csv)" = 5

    # ---- the bundle ----
    try 0 "$LATHE" inspect bundle.lathe
    has out 'kept, a bundle of format lathe.bundle/'
    has out 'machine    x86_64, glibc 2.2 or newer'
    # A sanitized program has no business with libraries that are not.
    if [[ -z $SANITIZE && $(uname -m) == x86_64 ]]; then
        try 0 "$LATHE" verify bundle.lathe
        has out 'ok: as far as can be told without loading it, this machine can run it'
        try 0 "$LATHE" reproduce bundle.lathe
        has out 'identical: 12 steps, 9 records, weights after step 4, 8, 12'
    fi
    cd ..
done
verdict
