# SPDX-License-Identifier: MIT
# As an inline variable of C++ is: one in the process, whoever brings it.
{
    cat "$source"
    echo "__asm__(\".pushsection .data; .globl shared_count; \""
    echo "        \".type shared_count, @gnu_unique_object; .size shared_count, 4; \""
    echo "        \"shared_count: .long 0; .popsection\");"
} >"$out/plugin.c"
compile "$out/plugin.c" "$out/plugin.so"
rm "$out/plugin.c"
