# SPDX-License-Identifier: MIT
# lathe-plugin(7) and manifests/README.md say the same of a manifest, which is what the host's
# schema says: kinds, keywords, formats, and the places where plugins are looked for.
source "$(dirname "$0")/docs.bash"
manual=$SOURCE/sdk/lathe-plugin.7.scd
readme=$SOURCE/manifests/README.md
schema=$SOURCE/manifests/schema/plugin.json
faults=0

# same NAME FILE FILE…: the lists, one a line, are alike and not empty
same() {
    local name=$1 first=$2 other
    shift 2
    [[ $(wc -l <"$first") -gt 3 ]] || { echo "$name: hardly any is found in $first"; faults=1; }
    for other; do
        diff "$first" "$other" || { echo "$name: $first and $other differ"; faults=1; }
    done
}

# between FILE FROM TO: the text from one to the other, as one line
between() { tr '\n\t' '  ' <"$1" | sed -E "s/.*$2//; s/$3.*//"; }

words() { tr -s ' ,\`_' '\n' | grep -xE '[a-zA-Z:]+' | grep -vxE 'or|is|in' | sort; }

between "$manual" '_kind_ is' '\.  ' | words >kinds.manual
grep -E '^\| `kind` ' "$readme" | cut -d '|' -f 4 | words >kinds.readme
lathe schema --plugin | tr -d ' \n' | grep -oE '"kind":\{[^}]*' |
    grep -oE '\[[^]]*\]' | tr '[]",' '    ' | words >kinds.schema
[[ -s $schema ]]
same kinds kinds.readme kinds.manual kinds.schema

between "$manual" 'in a subset: ' '\. ' | words >keywords.manual
sed -n '/^| keyword /,/^$/p' "$readme" | grep -oE '^\| `[^|]*' | words >keywords.readme
same keywords keywords.readme keywords.manual

between "$manual" '_format_ is ' '\. ' | words | sed 's/:.*//' >formats.manual
sed -n '/^| format /,/^$/p' "$readme" | grep -oE '^\| `[a-z]+' | words >formats.readme
sed -n '/formats\[\] = {/,/};/p' "$SOURCE/host/options_schema.c" | grep -oE '"[a-z]+' | tr -d '"' |
    sort -u >formats.host
same formats formats.readme formats.manual formats.host

# The places, in their order: by what is in each of them that nothing else has.
place() {
    sed -E 's/.*linked into.*/linked/; s/.*--plugin-path.*/flag/; s/.*LATHE_PLUGIN_PATH.*/variable/
        s|.*local/lib/lathe/plugins.*|home|; s|.*lib/lathe/plugins.*|installed|
        s/.*plugins.*beside the directory.*/built/' | tr -d '~'
}
sed -n '/^# WHERE PLUGINS/,/^# BUILD/p' "$manual" | grep '^\. ' | place >places.manual
sed -n '/^### Where plugins are looked for/,/^In each/p' "$readme" | grep -E '^[0-9]\. ' |
    place >places.readme
same places places.readme places.manual
xargs <places.readme | grep -x 'linked flag variable home installed built' || faults=1
((faults == 0))
