# SPDX-License-Identifier: MIT
# labels: no-tsan
# The loop in sdk/README.md builds as shown, and its records are those of `lathe run`.
source "$(dirname "$0")/docs.bash"
needs_plain_build

# As in the project's folder.
ln -s "$SOURCE/sdk" sdk
ln -s "$BUILD" build
block README.md json 1 >first.json
# The block of C that has a main.
for ((n = 1; ; n++)); do
    block sdk/README.md c "$n" >loop.c
    [[ -s loop.c ]] || { echo "sdk/README.md shows no program"; exit 1; }
    ! grep -q 'int main' loop.c || break
done
mapfile -t compile < <(grep '^cc -I sdk/include loop.c' "$SOURCE/sdk/README.md")
run=$(grep '^LATHE_PLUGIN_PATH=.* \./loop' "$SOURCE/sdk/README.md")
((${#compile[@]} == 2)) && [[ -n $run ]]

# `run` is the one thing that differs: the loop writes no directory.
forget_run() { sed -E 's/"run":(null|"[^"]*")/"run":null/'; }

values=(seed=7 train.accumulate=3 train.log=7step 'train.validate=20step')
lathe run first.json "${values[@]}" --json | forget_run >expected
grep -q '"split":"validation"' expected
for how in "${compile[@]}"; do
    rm -f loop
    eval "$how"
    eval "$run \"\${values[@]}\"" | forget_run >found
    diff expected found
done
wc -l <expected

# A fault ends it, told and with a status.
if eval "$run model.hidden=[0]" 2>told; then exit 1; fi
grep -q 'hidden' told
if eval "$run seed=7 optimizer.lr=1e30" >found 2>told; then exit 1; fi
tail -n 1 found | grep -q '"reason":"nonfinite"'
grep -q 'nan\|inf' told
