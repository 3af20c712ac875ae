/* SPDX-License-Identifier: MIT */
/* One array of NumPy's .npy format, versions 1 to 3, in memory. Booleans, whole numbers
 * and floats of either byte order; an array in Fortran order is turned into a copy in C
 * order. Objects (pickles), records, text and times are refused. Not a writer. */
#ifndef NPY_ARRAY_H
#define NPY_ARRAY_H

#include <lathe/host.h>

struct npy_array {
    const char *name; /* for messages: a path, or a member of one; borrowed */
    const unsigned char *values; /* C order; unaligned */
    unsigned char *copy;         /* what `values` is, if it was turned; else NULL */
    char kind;                   /* 'b', 'i', 'u', 'f' */
    int width;                   /* bytes of a number: 1, 2, 4, 8 */
    int is_big;                  /* big-endian */
    int rank;                    /* 1 to LATHE_RANK_MAX */
    int64_t shape[LATHE_RANK_MAX];
    int64_t sample; /* numbers per item of the first axis; at least 1, as shape[0] */
};

/* Reads the header of bytes[count], which must last as long as the array. Fails with
 * LATHE_EDATA; the array then has nothing to free. */
lathe_status npy_array_open(const lathe_host *host, const char *name, const void *bytes,
                            int64_t count, struct npy_array *array);
/* The number at values + index * width. */
double npy_array_number(const struct npy_array *array, int64_t index);
/* "28 x 28", whole shape. */
void npy_array_shape(const struct npy_array *array, char *text, size_t size);
void npy_array_close(struct npy_array *array);

#endif
