# SPDX-License-Identifier: MIT
compile "$broken/exporting.c" "$out/plugin.so" -DEXPORT='"archive_read_new"'
