/* SPDX-License-Identifier: MIT */
/* Arrays of floats for the tests of kernels and of the plugins built on them. */
#ifndef TESTS_SUPPORT_ARRAYS_H
#define TESTS_SUPPORT_ARRAYS_H

#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lathe/random.h>

/* x[count] uniform in [-span, span), the same for the same seed. */
static inline void array_fill(float *x, int64_t count, float span, uint32_t seed) {
    lathe_key key = {seed, 0};
    uint32_t draw[4];
    for (int64_t i = 0; i < count; i++) {
        if (i % 4 == 0) lathe_random4(key, 0, (uint64_t)(i / 4), draw);
        x[i] = span * (2 * lathe_unit(draw[i % 4]) - 1);
    }
}

/* A new array so filled; the caller frees it. */
static inline float *array_make(int64_t count, float span, uint32_t seed) {
    float *x = malloc((size_t)(count ? count : 1) * sizeof *x);
    if (!x) fail_msg("no memory for %lld floats", (long long)count);
    array_fill(x, count, span, seed);
    return x;
}

/* |actual - expected| <= tolerance * max(1, |expected|); NaN is never close. */
static inline void assert_close(double actual, double expected, double tolerance) {
    double size = fabs(expected) > 1 ? fabs(expected) : 1;
    if (!(fabs(actual - expected) <= tolerance * size))
        fail_msg("%.9g is not %.9g within %g", actual, expected, tolerance);
}

/* The derivative of a function of double, by central differences; `x` is restored. */
static inline double array_slope(double (*f)(const void *), const void *context,
                                 double *x) {
    double start = *x, h = 1e-5;
    *x = start + h;
    double above = f(context);
    *x = start - h;
    double below = f(context);
    *x = start;
    return (above - below) / (2 * h);
}

#endif
