# SPDX-License-Identifier: MIT
# Whatever crosses the wall is in the frozen table: every struct, and every number that has
# a name. What a header only forward-declares, and drafts, are no promise.
source "$(dirname "$0")/lint.bash"
table=tests/abi/layout.def
headers=(sdk/include/lathe/*.h)

# the names in a list that the table has no row for
missing() { grep -vxFf <(sed -nE "s/^$1\\(([A-Za-z_0-9]+),.*/\\1/p" "$table"); }

structs=$(sed -nE 's/^typedef struct (lathe_[a-z_]+) \{.*/\1/p' "${headers[@]}")
(($(wc -l <<<"$structs") > 20)) || complain sdk/include "hardly any struct was found"
missing STRUCT <<<"$structs" | while read -r name; do
    complain "$table" "struct $name is not in it"
done

# Defined as a number; what a plugin was built for is no promise.
numbers=$(sed -nE 's/^#define (LATHE_[A-Z_0-9]+) \(?-?(0x[0-9A-F]+|[0-9]+)u?\)?( .*)?$/\1/p' "${headers[@]}" |
    grep -vxE 'LATHE_ABI_MINOR|LATHE_NEEDS')
(($(wc -l <<<"$numbers") > 40)) || complain sdk/include "hardly any constant was found"
missing CONSTANT <<<"$numbers" | while read -r name; do
    complain "$table" "$name is not in it"
done
verdict
