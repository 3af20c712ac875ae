# SPDX-License-Identifier: MIT
compile "$source" "$out/plugin.so"
chmod 646 "$out/plugin.json"
