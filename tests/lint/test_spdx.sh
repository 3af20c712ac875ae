# SPDX-License-Identifier: MIT
# Every source file says its licence in its first line, or after the "#!".
source "$(dirname "$0")/lint.bash"
text_files | grep -E '\.([ch]|cc|sh|bash|cmake|def)$|CMakeLists\.txt$|clang-tidy$|^dev$|^\.ci/' |
    xargs awk '
        FNR == 1 { wanted = /^#!/ ? 2 : 1 }
        FNR == wanted && !/SPDX-License-Identifier: MIT/ {
            print FILENAME ": its first line is no SPDX-License-Identifier"
        }' >>"$scratch/faults"
verdict
