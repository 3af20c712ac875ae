# SPDX-License-Identifier: MIT
# What the library that it needs has as well, and what that library would use from then on.
echo "int borrowed(void) { return 0; } int use(void) { return borrowed(); }" >"$out/helper.c"
compile "$out/helper.c" "$out/liblathe-borrowed.so" -fvisibility=default
rm "$out/helper.c"
compile "$broken/exporting.c" "$out/plugin.so" -DEXPORT='"borrowed"' -Wl,--no-as-needed \
    -L"$out" -llathe-borrowed -Wl,-rpath,"$out"
