# SPDX-License-Identifier: MIT
# labels: slow
# lathe new: what it makes builds without a warning with gcc and clang, as C, and passes its
# own tests, for every kind; a callback is short; wrong words are told.
set -u
if [[ -n $SANITIZE ]]; then
    echo "a sanitizer leaves its own functions open, which -z defs forbids"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
umask 022
unset LATHE_PLUGIN_PATH
faults=0
strict='-Wall -Wextra -Wpedantic -Werror -Wconversion -Wshadow -Wstrict-prototypes'

complain() {
    printf '%s\n' "$*" >&2
    faults=$((faults + 1))
}

DESTDIR=$scratch/moved cmake --install "$BUILD" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" >&2; exit 1; }
prefix=$scratch/moved$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$BUILD/CMakeCache.txt")
lathe=$prefix/bin/lathe
mkdir "$scratch/work"
cd "$scratch/work" || exit 1

for kind in callback dataset model optimizer schedule; do
    "$lathe" new "$kind" "my-$kind-2" >"$scratch/stdout" 2>"$scratch/log" ||
        { complain "$kind: $(<"$scratch/log")"; continue; }
    while read -r file; do
        [[ -s $file ]] || complain "$kind: $file is told, and not there"
    done <"$scratch/stdout"
    ! grep -r '@' "my-$kind-2" || complain "$kind: a place was not filled in"
    for compiler in "$CC" clang; do
        command -v "$compiler" >/dev/null || continue
        (cd "my-$kind-2" && rm -rf build &&
            cmake -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" \
                -DCMAKE_C_FLAGS="$strict" && cmake --build build &&
            ctest --test-dir build --output-on-failure) >"$scratch/log" 2>&1 ||
            complain "$kind, $compiler: $(tail -n 40 "$scratch/log")"
    done
done
# In a clone the build folder is the package: it is found by its bin/ in PATH.
(cd my-callback-2 && rm -rf build && export PATH=$BUILD/bin:$PATH &&
    cmake -B build && cmake --build build && ctest --test-dir build --output-on-failure) \
    >"$scratch/log" 2>&1 || complain "from the build folder: $(tail -n 40 "$scratch/log")"
# As somebody would build it who says nothing: with optimisation, warnings, and a test that
# knows an option without a default from try.json alone.
sed -i 's/"default": 0.01/"description": "wanted"/' my-optimizer-2/plugin.json
sed -i 's/"use": "my-optimizer-2"/&, "lr": 0.01/' my-optimizer-2/try.json
(cd my-optimizer-2 && rm -rf build &&
    cmake -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON &&
    cmake --build build && ctest --test-dir build --output-on-failure) \
    >"$scratch/log" 2>&1 || complain "a wanted option: $(tail -n 40 "$scratch/log")"
for flag in -O2 -g -Wall -Wextra; do
    grep -qe "$flag .*my-optimizer-2\.c" my-optimizer-2/build/compile_commands.json ||
        complain "built without $flag"
done
grep -qx /build/ my-model-2/.gitignore || complain "git would take build/"

(($(cat my-callback-2/my-callback-2.c my-callback-2/plugin.json | wc -l) <= 50)) ||
    complain "the callback has more than 50 lines"

# refuse WORDS STATUS TEXT…
refuse() {
    local words=$1 status=$2 text
    shift 2
    # shellcheck disable=SC2086
    "$lathe" new $words >"$scratch/stdout" 2>"$scratch/log"
    local code=$?
    ((code == status)) || complain "new $words: ended with $code, not $status"
    for text; do
        grep -qF -- "$text" "$scratch/log" ||
            complain "new $words: no \"$text\" in: $(<"$scratch/log")"
    done
}

refuse 'calback x' 64 'there is no template for a "calback"' 'did you mean "callback"?'
refuse 'comm x' 64 'kinds: callback, dataset, model, optimizer, schedule'
refuse 'callback My_Thing' 64 '"My_Thing" is no name for a plugin' 'a to z, 0 to 9 and -'
refuse 'callback ../x' 64 'no name for a plugin'
refuse 'callback my-callback-2' 64 '"my-callback-2" is there already'
refuse 'callback' 64 'takes a kind and a name'
[[ ! -e x ]] || complain "a refused word made a folder"

exit $((faults > 0))
