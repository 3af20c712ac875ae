# SPDX-License-Identifier: MIT
set(sources ${folder}/csv.c ${folder}/csv_labels.c ${folder}/csv_parse.c
            ${folder}/csv_table.c)
