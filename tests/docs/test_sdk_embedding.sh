# SPDX-License-Identifier: MIT
# labels: no-tsan
# The loop in sdk/README.md is the template's, builds as shown, and trains like `lathe run`.
source "$(dirname "$0")/docs.bash"
needs_plain_build

# As in the project's folder.
ln -s "$SOURCE/sdk" sdk
ln -s "$BUILD" build
block README.md json 1 >first.json
# The block of C that has a main.
for ((n = 1; ; n++)); do
    block sdk/README.md c "$n" >shown.c
    [[ -s shown.c ]] || { echo "sdk/README.md shows no program"; exit 1; }
    ! grep -q 'int main' shown.c || break
done
sed -n '/^#include/,$p' sdk/template/loop.c | diff - shown.c
eval "$(grep '^cp sdk/template/loop.c' "$SOURCE/sdk/README.md")"
mapfile -t compile < <(grep '^cc -I sdk/include loop.c' "$SOURCE/sdk/README.md")
run=$(grep '^LATHE_PLUGIN_PATH=.* \./loop' "$SOURCE/sdk/README.md")
((${#compile[@]} == 2)) && [[ $run == *first-run ]]

# Of the records, `run` is the one thing that differs.
forget_run() { sed -E 's/"run":(null|"[^"]*")/"run":null/'; }

values=(seed=7 train.accumulate=3 train.log=7step 'train.validate=20step')
lathe run first.json "${values[@]}" --json --run-dir run | forget_run >expected
grep -q '"split":"validation"' expected
for how in "${compile[@]}"; do
    rm -rf loop first-run
    eval "$how"
    eval "$run \"\${values[@]}\"" | forget_run >found
    diff expected found
    diff run/metrics.jsonl first-run/metrics.jsonl
done
wc -l <expected

# A fault ends it, told and with a status.
rm -rf first-run
if eval "$run model.hidden=[0]" 2>told; then exit 1; fi
grep -q 'hidden' told
if eval "$run seed=7 optimizer.lr=1e30" >found 2>told; then exit 1; fi
tail -n 1 found | grep -q '"reason":"nonfinite"'
grep -q 'nan\|inf' told

section=$(sed -n '/^- \*\*`LATHE_END`/,/^## The growth/p' "$SOURCE/sdk/README.md")
# Each function and option of session.h that a loop needs is spoken of.
for name in lathe_stage_begin lathe_save lathe_request lathe_stop lathe_reason \
    LATHE_DUE_{VALIDATION,EPOCH_END,CHECKPOINT} LATHE_ALLOW_CHANGE resume from trace; do
    grep -qw "$name" "$SOURCE/sdk/include/lathe/session.h"
    grep -qw "$name" <<<"$section" ||
        { echo "sdk/README.md does not speak of $name"; exit 1; }
done
