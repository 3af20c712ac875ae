/* SPDX-License-Identifier: MIT */
#include "loss.h"

#include <math.h>

#include "elementary.h"

#define LANES 8 /* a sum runs in this many lanes, so that it vectorises */

/* max of x[n]. A NaN may be passed over: e^(NaN - max) shows it in the sum. */
static float greatest(int64_t n, const float *x) {
    float max = x[0];
    for (int64_t i = 1; i < n; i++) max = x[i] > max ? x[i] : max;
    return max;
}

/* sum of x[n], in an order that depends on n alone */
static float total(int64_t n, const float *x) {
    float lane[LANES] = {0}, rest = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += x[i + k];
    for (; i < n; i++) rest += x[i];
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) +
           ((lane[2] + lane[6]) + (lane[3] + lane[7])) + rest;
}

double loss_cross_entropy(int64_t rows, int64_t classes, const float *restrict z,
                          const int32_t *restrict labels, float *restrict d) {
    double sum = 0;
    for (int64_t row = 0; row < rows; row++, z += classes, d += classes) {
        float max = greatest(classes, z);
        for (int64_t j = 0; j < classes; j++) d[j] = elementary_exp(z[j] - max);
        float weight = total(classes, d), scale = 1.0f / weight;
        for (int64_t j = 0; j < classes; j++) d[j] *= scale;
        d[labels[row]] -= 1.0f;
        sum += log((double)weight) - ((double)z[labels[row]] - (double)max);
    }
    return sum;
}

double loss_squared_error(int64_t rows, int64_t width, const float *restrict y,
                          const float *restrict t, float *restrict d) {
    double sum = 0;
    float scale = 2.0f / (float)width;
    for (int64_t row = 0; row < rows; row++, y += width, t += width, d += width) {
        double squares = 0;
        for (int64_t j = 0; j < width; j++) {
            float error = y[j] - t[j];
            squares += (double)error * (double)error;
            d[j] = scale * error;
        }
        sum += squares / (double)width;
    }
    return sum;
}

int64_t loss_rows_correct(int64_t rows, int64_t classes, const float *z,
                          const int32_t *labels) {
    int64_t correct = 0;
    for (int64_t row = 0; row < rows; row++, z += classes) {
        int64_t best = 0;
        for (int64_t j = 1; j < classes; j++)
            if (z[j] > z[best]) best = j;
        correct += best == labels[row];
    }
    return correct;
}
