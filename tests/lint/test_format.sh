# SPDX-License-Identifier: MIT
# Every C file is as clang-format leaves it; every text file ends in a newline, and no line
# in a blank.
source "$(dirname "$0")/lint.bash"
mapfile -t texts < <(text_files)
mapfile -t untabbed < <(text_files | grep -E '\.([ch]|cc|sh|json)$|^dev$')
while IFS=: read -r file line _; do complain "$file:$line" "ends in a blank"
done < <(grep -nHE '[[:blank:]]$' "${texts[@]}")
while IFS=: read -r file line _; do complain "$file:$line" "has a tab"
done < <(grep -nH $'\t' "${untabbed[@]}")
for file in "${texts[@]}"; do
    [[ -z $(tail -c 1 "$file") ]] || complain "$file" "does not end in a newline"
done

command -v clang-format >/dev/null || { verdict; skip "clang-format is not installed"; }
every_file host sdk plugins tests -- '*.c' '*.h' '*.cc' |
    xargs -n 8 -P "$(nproc)" clang-format --dry-run --Werror 2>&1 |
    sed -nE 's/^([^ :]+:[0-9]+):[0-9]+: error:.*/\1/p' |
    while read -r where; do complain "$where" "is not as clang-format leaves it"; done
verdict
