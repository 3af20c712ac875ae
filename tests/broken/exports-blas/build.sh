# SPDX-License-Identifier: MIT
# The model of the run has one too, of a BLAS: each uses its own.
compile "$broken/exporting.c" "$out/plugin.so" -DEXPORT='"cblas_sgemm"'
