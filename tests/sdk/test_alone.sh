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

exit $((faults > 0))
