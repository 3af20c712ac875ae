# SPDX-License-Identifier: MIT
# Every test that tests/PROBES.md names is there, and every probe of groups A to G is named.
source "$(dirname "$0")/lint.bash"

rows=0
while IFS='|' read -r _ id what file name _; do
    file=tests/$(tr -d ' `' <<<"$file") name=$(sed 's/^ *`//; s/` *$//' <<<"$name")
    rows=$((rows + 1))
    [[ -n ${name// /} ]] || complain "tests/PROBES.md" "$id names no test"
    if [[ ! -f $file ]]; then
        complain "tests/PROBES.md" "$id: there is no $file"
    elif [[ $file == *.c ]]; then
        grep -qE "^static void $name\(void \*\*state\)" "$file" ||
            complain "tests/PROBES.md" "$id: $file has no test $name"
        grep -qE "\b$name[,)]" "$file" || complain "$file" "$name is not run"
    else
        grep -qF -- "$name" "$file" || complain "tests/PROBES.md" "$id: $file does not have: $name"
    fi
done < <(grep -E '^\|.*\| `[^`]+` \| `.+` \|$' tests/PROBES.md)
((rows > 70)) || complain tests/PROBES.md "only $rows rows can be read"

for id in A{1,2,3,5,6,8,9,10,13} B{1,3,5,6,8,11,13,14,16,17,18,19,21,23,24} \
    C{1,3,4,5,7,9,11,12,13,15} D{1,3,5,7,8,9,11} E{2,4,6,7} F{1,2,4,5,6,8,9,10,12} G{2,3,5}; do
    grep -qE "\b$id\b" tests/PROBES.md || complain tests/PROBES.md "$id is missing"
done
verdict
