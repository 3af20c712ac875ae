# SPDX-License-Identifier: MIT
: >"$out/plugin.so"
