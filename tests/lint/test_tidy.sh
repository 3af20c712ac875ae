# SPDX-License-Identifier: MIT
# clang-tidy, with the checks of .clang-tidy, over everything that is compiled.
source "$(dirname "$0")/lint.bash"
command -v clang-tidy >/dev/null || skip "clang-tidy is not installed"
awk -F'"' -v root="$SOURCE/" '$2 == "file" && index($4, root) == 1 {
    print substr($4, length(root) + 1) }' "$BUILD/compile_commands.json" |
    grep -v '^build' | sort -u >"$scratch/files"
[[ -s $scratch/files ]] || complain "$BUILD/compile_commands.json" "names no file"
xargs -n 1 -P "$(nproc)" clang-tidy --quiet -p "$BUILD" <"$scratch/files" 2>/dev/null |
    sed -nE "s|^$SOURCE/([^:]+:[0-9]+):[0-9]+: (error\|warning): (.*)|\1 \3|p" | sort -u |
    while read -r where what; do complain "$where" "$what"; done
verdict
