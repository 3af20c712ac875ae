/* SPDX-License-Identifier: MIT */
#include "average.h"

#include <string.h>

void average_update(int64_t count, float decay, const float *restrict weights,
                    float *restrict average) {
    const float fresh = 1 - decay;
    if (fresh >= 1) {
        memcpy(average, weights, (size_t)count * sizeof *average);
        return;
    }
    for (int64_t i = 0; i < count; i++) average[i] += fresh * (weights[i] - average[i]);
}
