# SPDX-License-Identifier: MIT
compile "$source" "$out/plugin.so"
patch "$out/plugin.so" 18 050 000 # arm
