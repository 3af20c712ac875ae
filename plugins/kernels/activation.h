/* SPDX-License-Identifier: MIT */
/* Activations of a layer, fused with its bias: one pass while the output is hot.
 *
 *   relu  y = max(x, 0)
 *   gelu  y = x Phi(x), Phi(x) = (1 + erf(x / sqrt 2)) / 2: the exact form, which is
 *         PyTorch's approximate="none", of Hendrycks and Gimpel, "Gaussian error linear
 *         units", arXiv 1606.08415; not the approximation by tanh
 *   tanh  y = tanh x
 *
 * NaN goes through all of them. */
#ifndef KERNELS_ACTIVATION_H
#define KERNELS_ACTIVATION_H

#include <stdint.h>

struct activation {
    const char *name;
    int keeps; /* does backward need `kept`? Otherwise pass NULL. */
    /* y[rows,width] = f(y + bias[width]); kept[rows,width]: for backward */
    void (*forward)(int64_t rows, int64_t width, const float *bias, float *kept,
                    float *y);
    /* d[count] *= f'; y and kept as forward left them */
    void (*backward)(int64_t count, const float *kept, const float *y, float *d);
};

/* NULL: no such activation. */
const struct activation *activation_find(const char *name);

/* y[rows,width] += bias[width] */
void bias_forward(int64_t rows, int64_t width, const float *bias, float *y);
/* db[width] = (add ? db : 0) + sum over rows of d[rows,width], row after row */
void bias_backward(int64_t rows, int64_t width, const float *d, int add, float *db);

#endif
