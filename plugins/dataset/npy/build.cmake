# SPDX-License-Identifier: MIT
set(sources ${folder}/npy.c ${folder}/npy_array.c ${folder}/npy_header.c
            ${folder}/npy_samples.c)
