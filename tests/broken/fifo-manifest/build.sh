# SPDX-License-Identifier: MIT
compile "$source" "$out/plugin.so"
rm "$out/plugin.json"
mkfifo "$out/plugin.json"
