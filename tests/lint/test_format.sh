# SPDX-License-Identifier: MIT
# Every C file is as clang-format leaves it; every text file ends in a newline, and no line
# in a blank.
source "$(dirname "$0")/lint.bash"
while read -r file; do
    while IFS=: read -r line _; do complain "$file:$line" "ends in a blank"
    done < <(grep -nE '[[:blank:]]$' "$file")
    [[ -z $(tail -c 1 "$file") ]] || complain "$file" "does not end in a newline"
    case $file in
    *.[ch] | *.cc | dev | *.sh | *.json)
        while IFS=: read -r line _; do complain "$file:$line" "has a tab"
        done < <(grep -n $'\t' "$file") ;;
    esac
done < <(text_files)

command -v clang-format >/dev/null || { verdict; skip "clang-format is not installed"; }
every_file host sdk plugins tests -- '*.c' '*.h' '*.cc' |
    xargs -n 8 -P "$(nproc)" clang-format --dry-run --Werror 2>&1 |
    sed -nE 's/^([^ :]+:[0-9]+):[0-9]+: error:.*/\1/p' |
    while read -r where; do complain "$where" "is not as clang-format leaves it"; done
verdict
