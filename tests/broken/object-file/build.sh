# SPDX-License-Identifier: MIT
compile "$source" "$out/plugin.so" -c
