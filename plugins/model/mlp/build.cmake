# SPDX-License-Identifier: MIT
set(sources ${folder}/mlp.c ${folder}/../supervised.c)
