# SPDX-License-Identifier: MIT
# It finds its own names first, so that no other can come before them.
compile "$broken/exporting.c" "$out/plugin.so" -DEXPORT='"json_loads"' -Wl,-Bsymbolic
