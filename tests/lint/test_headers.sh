# SPDX-License-Identifier: MIT
# The SDK's headers compile alone and together, as C11 and as C++17, by every compiler that
# is here, under stricter flags than ours; a function of the wrong type does not compile.
source "$(dirname "$0")/lint.bash"
flags=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wpadded -Werror -fsyntax-only
    -Isdk/include)
c=() cxx=()
for compiler in gcc clang; do
    command -v $compiler >/dev/null && c+=("$compiler -std=c11 -xc")
done
for compiler in g++ clang++; do
    command -v $compiler >/dev/null && cxx+=("$compiler -std=c++17 -xc++")
done
echo "compilers: ${c[*]%% *} ${cxx[*]%% *}"
((${#c[@]} && ${#cxx[@]})) || complain "" "no C compiler, or no C++ compiler"

mapfile -t headers < <(cd sdk/include && find lathe -name '*.h' | sort)
{
    for header in "${headers[@]}"; do echo "#include <$header>"; done
} >"$scratch/together"
tac "$scratch/together" >"$scratch/backwards"
for header in "${headers[@]}"; do
    echo "#include <$header>" >"$scratch/alone.${header//\//.}"
done
for compiler in "${c[@]}" "${cxx[@]}"; do
    for file in "$scratch"/{alone.*,together,backwards}; do
        # shellcheck disable=SC2086
        $compiler "${flags[@]}" "$file" 2>"$scratch/text" || {
            complain "${file##*/}" "$compiler: $(grep -m 1 -E 'error' "$scratch/text")"
        }
    done
done

# The same callback with a good and with a wrong function; in C and in C++.
cat >"$scratch/callback.c" <<'END'
#include <lathe/callback.h>
static lathe_status make(const lathe_host *host, void **self) {
    (void)host; *self = 0; return LATHE_OK;
}
static lathe_status good(void *self, const lathe_moment *at) {
    (void)self; (void)at; return LATHE_OK;
}
static void wrong(void *self, const lathe_moment *at) { (void)self; (void)at; }
#ifdef __cplusplus
LATHE_CALLBACK(o.create = make; o.step_end = FUNCTION);
#else
LATHE_CALLBACK(.create = make, .step_end = FUNCTION);
#endif
END
for compiler in "${c[@]}" "${cxx[@]}"; do
    # No warning flags: the error must not depend on them.
    # shellcheck disable=SC2086
    $compiler -fsyntax-only -Isdk/include -DFUNCTION=good "$scratch/callback.c" \
        2>"$scratch/text" ||
        complain "LATHE_CALLBACK" "$compiler: $(grep -m 1 error "$scratch/text")"
    # shellcheck disable=SC2086
    if $compiler -fsyntax-only -Isdk/include -DFUNCTION=wrong "$scratch/callback.c" \
        2>/dev/null; then
        complain "LATHE_CALLBACK" "$compiler takes a function of the wrong type"
    fi
done
verdict
