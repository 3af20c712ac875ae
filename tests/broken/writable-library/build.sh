# SPDX-License-Identifier: MIT
compile "$source" "$out/plugin.so"
chmod 757 "$out/plugin.so"
