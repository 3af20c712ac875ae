# SPDX-License-Identifier: MIT
compile "$source" "$out/plugin.so"
truncate -s 8192 "$out/plugin.so"
