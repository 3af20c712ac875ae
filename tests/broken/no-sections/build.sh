# SPDX-License-Identifier: MIT
# Without section headers, as some packers leave it: the loader needs none, so it is sound.
compile "$source" "$out/plugin.so"
patch "$out/plugin.so" 40 000 000 000 000 000 000 000 000
patch "$out/plugin.so" 58 000 000 000 000 000 000
