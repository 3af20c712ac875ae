# SPDX-License-Identifier: MIT
mkdir "$out/plugin.so"
