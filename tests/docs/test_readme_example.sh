# SPDX-License-Identifier: MIT
# labels: no-tsan
# README's experiment validates, and its callback builds as shown and stops a run.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -z $SANITIZE ]] || { echo "skipped: the plugin is built without sanitizers"; exit 77; }

# block LANGUAGE N: the N-th fenced block of that language
block() {
    awk -v fence="^\`\`\`$1\$" -v wanted="$2" '
        /^```$/ { on = 0 }
        on && n == wanted
        $0 ~ fence { on = 1; n++ }' "$SOURCE/README.md"
}
cd "$work"
mkdir stop-below
block json 1 >first.json
block json 2 >stop-below/plugin.json
block c 1 >stop-below/stop-below.c
"$LATHE" validate first.json

# What README shows of a mistake is what is printed.
"$LATHE" run first.json optimizer.lrr=0.1 2>printed && exit 1
sed -n '/^\$ lathe run first.json optimizer.lrr/,/^```$/p' "$SOURCE/README.md" |
    sed '1d; $d' | diff - printed

build=$(grep -m 1 '^cc ' "$SOURCE/README.md")
${build/#cc/$CC} -I "$SOURCE/sdk/include"

"$LATHE" run first.json --plugin-path . --run-dir run --json \
    'callbacks=[{"use": "stop-below"}]' >records.jsonl
tail -n 1 records.jsonl
tail -n 1 records.jsonl | grep -q '"event":"end","reason":"stopped"'
