# SPDX-License-Identifier: MIT
# What the lint tests share. A test calls `complain` for each fault and ends with `verdict`.
set -u
cd "${SOURCE:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}" || exit 1
export LC_ALL=C.UTF-8
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
: >"$scratch/faults"

# complain WHERE WHAT; a file, because it is called in pipelines too
complain() { printf '%s: %s\n' "$1" "$2" >>"$scratch/faults"; }

verdict() {
    sort "$scratch/faults" >&2
    local faults
    faults=$(wc -l <"$scratch/faults")
    ((faults == 0)) || { echo "$faults faults" >&2; exit 1; }
}

# skip REASON: the test says nothing here; ctest counts it as skipped
skip() {
    echo "skipped: $*" >&2
    exit 77
}

# every_file DIRECTORY… -- PATTERN…: files by name, in a fixed order
every_file() {
    local -a directories=() patterns=()
    while [[ $1 != -- ]]; do
        directories+=("$1")
        shift
    done
    shift
    local pattern
    for pattern in "$@"; do patterns+=(-o -name "$pattern"); done
    find "${directories[@]}" -name 'build*' -type d -prune -o \
        -type f \( "${patterns[@]:1}" \) -print | sort
}

c_files() { every_file "${@:-host}" -- '*.c' '*.h'; }

# Every text file of the project, whatever its kind.
text_files() {
    find . \( -name .git -o -name 'build*' -o -name runs \) -prune -o \
        -type f \( -name '*.[ch]' -o -name '*.cc' -o -name '*.sh' -o -name '*.bash' -o \
        -name '*.def' -o -name '*.md' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.txt' -o \
        -name '.clang-*' -o -name .editorconfig -o -name .gitignore -o \
        -path ./dev -o -path ./.ci/run -o -path './manifests/*.json' -o \
        -path './plugins/*.json' \) -print | sed 's|^\./||' | sort
}
