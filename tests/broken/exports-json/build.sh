# SPDX-License-Identifier: MIT
compile "$broken/exporting.c" "$out/plugin.so" -DEXPORT='"json_loads"'
