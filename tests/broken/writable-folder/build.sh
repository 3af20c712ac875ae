# SPDX-License-Identifier: MIT
compile "$source" "$out/plugin.so"
chmod 777 "$out"
