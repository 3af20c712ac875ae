# SPDX-License-Identifier: MIT
compile "$source" "$out/plugin.so"
truncate -s 4096 "$out/plugin.so"
