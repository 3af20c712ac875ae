/* SPDX-License-Identifier: MIT */
#include "passes_loops.h"

#define LANES 8 /* partial sums side by side: a fixed order that vectorises */

void passes_add(float *restrict to, const float *restrict from, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] += from[i];
}

double passes_sum_squares(const float *x, int64_t count) {
    double lanes[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            lanes[lane] += (double)x[i + lane] * (double)x[i + lane];
    for (; i < count; i++) lanes[i % LANES] += (double)x[i] * (double)x[i];
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

void passes_multiply(float *x, int64_t count, float factor) {
    for (int64_t i = 0; i < count; i++) x[i] *= factor;
}

void passes_clamp(float *x, int64_t count, float scale, float bound) {
    for (int64_t i = 0; i < count; i++) {
        float y = x[i] * scale;
        x[i] = y > bound ? bound : y < -bound ? -bound : y;
    }
}
