# SPDX-License-Identifier: MIT
echo 'int main(void) { return 0; }' >"$out/main.c"
"${CC:-cc}" -pie -fPIE -o "$out/plugin.so" "$out/main.c"
