# SPDX-License-Identifier: MIT
compile "$source" "$out/plugin.so" -Wl,-rpath,'$ORIGIN/lib'
