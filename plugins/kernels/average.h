/* SPDX-License-Identifier: MIT */
/* A moving average of weights. */
#ifndef KERNELS_AVERAGE_H
#define KERNELS_AVERAGE_H

#include <stdint.h>

/* average[count] = decay * average + (1 - decay) * weights; decay 0 copies. */
void average_update(int64_t count, float decay, const float *weights, float *average);

#endif
