/* SPDX-License-Identifier: MIT */
/* The dictionary at the head of an .npy file, a literal of Python:
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }
 * Only what NumPy writes there is read, in any order and with any blanks. */
#ifndef NPY_HEADER_H
#define NPY_HEADER_H

#include <stddef.h>
#include <stdint.h>

#define NPY_RANK_MAX 32 /* NumPy's */

struct npy_header {
    char descr[32]; /* "<f4"; "[…" for records, which begin so */
    int is_fortran;
    int rank;
    int64_t shape[NPY_RANK_MAX];
};

/* NULL: understood. Else what is wrong with it, a static text. */
const char *npy_header_read(const char *text, size_t length, struct npy_header *header);

#endif
