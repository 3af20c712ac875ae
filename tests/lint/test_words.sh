# SPDX-License-Identifier: MIT
# Words that have no place here: paths of somebody's machine, and what is left for later.
source "$(dirname "$0")/lint.bash"

# forbid REASON PATTERN FILE…
forbid() {
    local reason=$1 pattern=$2
    shift 2
    (($#)) || return 0
    grep -nHE "$pattern" "$@" | while IFS=: read -r file line _; do
        complain "$file:$line" "$reason"
    done
}

mapfile -t all < <(text_files | grep -v '^tests/lint/test_words\.sh$')
mapfile -t shipped < <(text_files | grep -v '^tests/')
forbid "a path of one machine" '/(work|root|home|Users|mnt)/' "${all[@]}"
forbid "a path of one machine" '/tmp/' "${shipped[@]}"
forbid "unfinished work belongs in an issue" '\<(TODO|FIXME|XXX|HACK)\>' "${all[@]}"
verdict
