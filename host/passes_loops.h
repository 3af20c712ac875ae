/* SPDX-License-Identifier: MIT */
/* The loops of the passes over blocks, without who does which part of what: pure
 * functions over floats. They run as wide as the processor allows, with the same bits
 * (sdk/cmake/lathe-variants.h). */
#ifndef HOST_PASSES_LOOPS_H
#define HOST_PASSES_LOOPS_H

#include <stdint.h>

/* to[count] += from[count] */
void passes_add(float *to, const float *from, int64_t count);
/* The sum of the squares of x[count]. They are exact in double, so the sum has no
 * overflow and little rounding; it runs in a fixed number of lanes. */
double passes_sum_squares(const float *x, int64_t count);
/* x[count] *= factor */
void passes_multiply(float *x, int64_t count, float factor);
/* x[count] = scale * x, no further from 0 than bound; NaN stays */
void passes_clamp(float *x, int64_t count, float scale, float bound);

#endif
