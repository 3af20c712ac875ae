# SPDX-License-Identifier: MIT
# Nothing is wrong: proves that the others fail for their fault alone.
compile "$source" "$out/plugin.so"
