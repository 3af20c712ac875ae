# SPDX-License-Identifier: MIT
echo 'int helper;' >"$out/helper.c"
compile "$out/helper.c" "$out/helper.so" -Wl,-soname,liblathe-helper.so.3
compile "$source" "$out/plugin.so" -Wl,--no-as-needed "$out/helper.so"
rm "$out/helper.so"
