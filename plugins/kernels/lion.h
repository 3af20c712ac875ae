/* SPDX-License-Identifier: MIT */
/* One update by Lion (Chen et al., "Symbolic discovery of optimization algorithms",
 * arXiv 2302.06675, algorithm 2), element by element:
 *
 *   g = scale * gradient
 *   c = m + (1 - beta1) (g - m)
 *   w = w * shrink - rate * sign c              shrink = 1 - rate * weight_decay
 *   m = m + (1 - beta2) (g - m)
 *
 * sign 0 is 0. Weights move by the rate whatever the gradient's size. */
#ifndef KERNELS_LION_H
#define KERNELS_LION_H

#include <stdint.h>

struct lion_rule {
    float scale, shrink, rate, fresh1, fresh2; /* fresh: 1 - beta */
};

/* w[count], gradient[count], m[count] */
void lion_update(int64_t count, const struct lion_rule *rule, const float *gradient,
                 float *m, float *w);

#endif
