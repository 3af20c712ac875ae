/* SPDX-License-Identifier: MIT */
/* Activations of a layer, element by element and so in any layout: one pass while the
 * output is hot, from which the slope is known too.
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
    /* y[count] = f(y); kept[count]: for backward */
    void (*forward)(int64_t count, float *kept, float *y);
    /* d[count] *= f'; y and kept as forward left them */
    void (*backward)(int64_t count, const float *kept, const float *y, float *d);
};

/* NULL: no such activation. */
const struct activation *activation_find(const char *name);

#endif
