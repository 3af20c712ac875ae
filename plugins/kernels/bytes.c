/* SPDX-License-Identifier: MIT */
#include "bytes.h"

void bytes_scale(int64_t count, const unsigned char *restrict from, double factor,
                 double offset, float *restrict to) {
    for (int64_t i = 0; i < count; i++) to[i] = (float)(from[i] * factor + offset);
}
