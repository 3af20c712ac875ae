# SPDX-License-Identifier: MIT
# As a plugin of several files does that hides nothing.
{
    cat "$source"
    for i in {1..40}; do echo "int helper_$i(void); int helper_$i(void) { return $i; }"; done
} >"$out/plugin.c"
compile "$out/plugin.c" "$out/plugin.so" -fvisibility=default
rm "$out/plugin.c"
