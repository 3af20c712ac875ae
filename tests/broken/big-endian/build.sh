# SPDX-License-Identifier: MIT
compile "$source" "$out/plugin.so"
patch "$out/plugin.so" 5 002
