# SPDX-License-Identifier: MIT
# Every source file says its licence in its first line, or after the "#!".
source "$(dirname "$0")/lint.bash"
text_files | grep -vE '\.(md|json|txt)$|^\.(gitignore|editorconfig|clang-format)$' |
    while read -r file; do
        head -n 2 "$file" | sed '/^#!/d; 2q' | head -n 1 |
            grep -q 'SPDX-License-Identifier: MIT' ||
            complain "$file" "its first line is no SPDX-License-Identifier"
    done
find . -name CMakeLists.txt -not -path './build*' | while read -r file; do
    head -n 1 "$file" | grep -q 'SPDX-License-Identifier: MIT' ||
        complain "${file#./}" "its first line is no SPDX-License-Identifier"
done
verdict
