# SPDX-License-Identifier: MIT
set(sources ${folder}/linear.c ${folder}/../supervised.c)
