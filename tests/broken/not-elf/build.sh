# SPDX-License-Identifier: MIT
echo '#!/bin/sh' >"$out/plugin.so"
