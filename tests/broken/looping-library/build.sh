# SPDX-License-Identifier: MIT
ln -s plugin.so "$out/plugin.so"
