# SPDX-License-Identifier: MIT
# A library that carries its manifest is a plugin by itself; where a plugin.json stands
# beside it, both must say the same. None of it loads the library.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
umask 022
unset LATHE_PLUGIN_PATH
faults=0

complain() {
    printf '%s\n' "$*" >&2
    faults=$((faults + 1))
}

# says NAME TEXT…: "lathe plugins" of the place $scratch/place has these texts
says() {
    local name=$1 text
    shift
    "$LATHE" plugins --plugin-path "$scratch/place" >"$scratch/stdout" 2>"$scratch/stderr" ||
        complain "$name: $(<"$scratch/stderr")"
    for text; do
        grep -qF -- "$text" "$scratch/stdout" ||
            complain "$name: no \"$text\" in $(grep -A9 "$scratch" "$scratch/stdout")"
    done
}

# again: an empty place with the library alone in it
again() {
    rm -rf "$scratch/place"
    mkdir "$scratch/place"
    objcopy -g "$shipped/early-stopping.so" "$scratch/place/early-stopping.so"
}

shipped=$BUILD/plugins/callback/early-stopping
json=$shipped/plugin.json

again
says "alone, and first of its name" "early-stopping 1.0.0" \
    "callback/early-stopping of \"$scratch/place/early-stopping.so\" comes first"
cat >"$scratch/experiment.json" <<'END'
{ "lathe": 1, "seed": 1, "name": "alone",
  "data": { "train": { "use": "blobs", "samples": 40 },
            "validation": { "use": "blobs", "samples": 10 } },
  "model": { "use": "mlp", "hidden": [] }, "optimizer": { "use": "sgd", "lr": 0.1 },
  "train": { "until": "2ep", "batch": 8 }, "callbacks": [ { "use": "early-stopping" } ] }
END
"$LATHE" run "$scratch/experiment.json" --run-dir "$scratch/run" --quiet \
    --plugin-path "$scratch/place" || complain "it does not run"
grep -q "$(sha256sum <"$scratch/place/early-stopping.so" | cut -d' ' -f1)" \
    "$scratch/run/environment.json" ||
    complain "another one was run"

again
mv "$scratch/place/early-stopping.so" "$scratch/place/renamed.so"
says "renamed" "callback/early-stopping of \"$scratch/place/renamed.so\" comes first"

again
cp "$json" "$scratch/place/"
says "both alike" "of \"$scratch/place/plugin.json\" comes first"

again
sed 's/"version": "1.0.0"/"version": "1.0.1"/' "$json" >"$scratch/place/plugin.json"
says "another version" "refused" \
    '"version" is not what it is in the manifest that early-stopping.so carries' \
    "build it again"

again
grep -v '"license"' "$json" >"$scratch/place/plugin.json"
says "less beside it" \
    '"license" is missing; the manifest that early-stopping.so carries has it'

again
objcopy --remove-section .note.lathe "$scratch/place/early-stopping.so" 2>"$scratch/log" ||
    complain "$(<"$scratch/log")"
says "nothing at all" "it carries no manifest, and no plugin.json names it" \
    "put a plugin.json beside"

cp "$json" "$scratch/place/"
says "plugin.json alone" "of \"$scratch/place/plugin.json\" comes first"

# Anything may lie in a plugin's own folder.
cp "$scratch/place/early-stopping.so" "$scratch/place/libhelper.so"
says "a helper beside it"
! grep -q libhelper "$scratch/stdout" || complain "a helper in a plugin's folder is told"

# ---- LATHE_MANIFEST: any compiler puts it in ----

mkdir "$scratch/source" "$scratch/elsewhere"
cat >"$scratch/source/count.c" <<'END'
#include <lathe/callback.h>
static lathe_status make(const lathe_host *host, void **self) {
    (void)host;
    *self = 0;
    return LATHE_OK;
}
#ifdef __cplusplus
LATHE_CALLBACK(o.create = make);
#else
LATHE_CALLBACK(.create = make);
#endif
LATHE_MANIFEST("plugin.json");
END
# Its length is no multiple of 4.
printf '{ "lathe": 1, "kind": "callback", "name": "count", "version": "1.0.0",
  "summary": "it says so in a note", "library": "count.so" }' >"$scratch/source/plugin.json"
(($(wc -c <"$scratch/source/plugin.json") % 4)) || complain "no padding is tried"
flags=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wredundant-decls -Werror
    -shared -fPIC -fvisibility=hidden -I "$SOURCE/sdk/include" -o "$scratch/place/count.so")

# carries NAME FOLDER COMPILER…: built there, the library has the whole manifest in it
carries() {
    local name=$1 folder=$2
    shift 2
    rm -rf "$scratch/place"
    mkdir "$scratch/place"
    (cd "$folder" && "$@" "${flags[@]}") 2>"$scratch/log" ||
        { complain "$name: $(<"$scratch/log")"; return; }
    readelf -p .note.lathe "$scratch/place/count.so" | grep -qF '"library": "count.so" }' ||
        complain "$name: the note does not end as the manifest does"
}

for compiler in "$CC -std=c11" "gcc -std=c11" "clang -std=c11" "g++ -std=c++17 -xc++" \
    "clang++ -std=c++17 -xc++" "aarch64-linux-gnu-gcc -std=c11"; do
    command -v "${compiler%% *}" >/dev/null || continue
    read -ra words <<<"$compiler"
    carries "$compiler" "$scratch/source" "${words[@]}" count.c
    carries "$compiler, elsewhere" "$scratch/elsewhere" "${words[@]}" -I ../source \
        ../source/count.c
    if [[ $compiler != aarch64* ]]; then
        says "$compiler" "it says so in a note"
    elif [[ $(uname -m) != aarch64 ]]; then
        says "$compiler" "refused" "aarch64"
    fi
done
carries "alone" "$scratch/source" "$CC" count.c
if [[ -z $SANITIZE ]]; then
    "$LATHE" run "$scratch/experiment.json" --run-dir "$scratch/run-count" --quiet \
        --plugin-path "$scratch/place" 'callbacks=[{"use":"count"}]' ||
        complain "a library with LATHE_MANIFEST does not run"
fi
# lathe_add_plugin puts it in; once is enough.
(cd "$scratch/elsewhere" &&
    "$CC" -DLATHE_MANIFEST_BY_BUILD ../source/count.c "${flags[@]}") ||
    complain "it wants the manifest, which the build puts in"
! readelf -SW "$scratch/place/count.so" | grep -q note.lathe || complain "it is in twice"

exit $((faults > 0))
