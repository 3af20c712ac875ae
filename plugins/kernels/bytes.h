/* SPDX-License-Identifier: MIT */
/* Bytes to floats. */
#ifndef KERNELS_BYTES_H
#define KERNELS_BYTES_H

#include <stdint.h>

/* to[count] = from * factor + offset, in doubles, rounded to float once at the end */
void bytes_scale(int64_t count, const unsigned char *from, double factor, double offset,
                 float *to);

#endif
