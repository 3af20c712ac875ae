# SPDX-License-Identifier: MIT
echo 'int helper;' >"$out/helper.c"
(cd "$out" && compile helper.c ./libhelper.so &&
    compile "$source" plugin.so -Wl,--no-as-needed ./libhelper.so)
