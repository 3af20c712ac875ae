# SPDX-License-Identifier: MIT
# Every plugin exports one symbol, liblathe.so what session.h and drafts declare, lathe
# nothing.
source "$(dirname "$0")/lint.bash"

# exports FILE: names it defines for others, without versions; copies of libc's data
# (stderr@GLIBC_…) are no exports
# exports LIBRARY: the names; a node of the version script is none
exports() { nm -D --defined-only "$1" | awk '$2 != "A" && $3 !~ /@GLIBC/ { sub(/@.*/, "", $3); print $3 }' | sort; }

plugins=$(find "$BUILD/plugins" -name '*.so' | sort)
[[ -n $plugins ]] || complain "$BUILD/plugins" "no plugin was built"
for plugin in $plugins; do
    found=$(exports "$plugin" | xargs)
    [[ $found == lathe_plugin_v1 ]] ||
        complain "${plugin#"$BUILD"/}" "exports \"$found\" instead of lathe_plugin_v1 alone"
    nm -D --defined-only "$plugin" | grep -q ' R lathe_plugin_v1\| D lathe_plugin_v1' ||
        complain "${plugin#"$BUILD"/}" "lathe_plugin_v1 is not data"
done

cat sdk/include/lathe/session.h sdk/include/lathe/draft/*.h | tr '\n' ' ' |
    grep -oE 'LATHE_EXPORT [^(;]*\(' | sed -E 's/.*[ *]([a-z_0-9]+)\($/\1/' |
    sort >"$scratch/declared"
exports "$BUILD/host/liblathe.so" >"$scratch/exported"
while read -r name; do
    complain liblathe.so "exports $name, which neither session.h nor a draft declares"
done < <(comm -13 "$scratch/declared" "$scratch/exported")
while read -r name; do complain liblathe.so "does not export $name, which a header declares"
done < <(comm -23 "$scratch/declared" "$scratch/exported")

found=$(exports "$LATHE" | grep -vE '^(_IO_stdin_used|__data_start|data_start)$' | xargs)
[[ -z $found ]] || complain lathe "exports \"$found\"; it is linked without -rdynamic"
verdict
