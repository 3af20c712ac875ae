# SPDX-License-Identifier: MIT
mkfifo "$out/plugin.so"
