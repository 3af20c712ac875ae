/* SPDX-License-Identifier: MIT */
#include "passes_loops.h"

/* Partial sums side by side: a fixed order that vectorises, and enough of them that no
 * addition waits for the one before. */
#define LANES 32

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
    for (int d = LANES / 2; d > 0; d /= 2)
        for (int lane = 0; lane < d; lane++) lanes[lane] += lanes[lane + d];
    return lanes[0];
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
