# SPDX-License-Identifier: MIT
# Arrays and samples are those of the npy plugin.
set(npy ${folder}/../npy)
set(sources ${folder}/npz.c ${folder}/zip.c ${npy}/npy_array.c ${npy}/npy_header.c
            ${npy}/npy_samples.c)
