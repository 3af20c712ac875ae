/* SPDX-License-Identifier: MIT */
/* One update by LAMB (You et al., "Large batch optimization for deep learning",
 * arXiv 1904.00962, algorithm 2) of one whole parameter, in two passes:
 *
 *   g = scale * gradient
 *   m = m + (1 - beta1) (g - m)
 *   v = beta2 * v + (1 - beta2) g^2
 *   u = unbias * m / (sqrt v * widen + eps) + decay * w
 *                                               unbias = 1 / (1 - beta1^step)
 *                                               widen = 1 / sqrt(1 - beta2^step)
 *   w = w - rate * u
 *
 * Between them the caller makes of |w| and |u| the trust ratio; it goes into rate. */
#ifndef KERNELS_LAMB_H
#define KERNELS_LAMB_H

#include <stdint.h>

struct lamb_rule {
    float scale, fresh1, beta2, fresh2, unbias, widen, eps, decay; /* fresh: 1 - beta */
};

struct lamb_norms {
    double weights, update; /* Euclidean; the sums are in double and in a fixed order */
};

/* Updates m[count] and v[count] with gradient[count]; the norms of w[count] and u. */
struct lamb_norms lamb_moments(int64_t count, const struct lamb_rule *rule,
                               const float *gradient, const float *w, float *m,
                               float *v);
/* w[count] -= rate * u, by m[count] and v[count] as lamb_moments left them */
void lamb_apply(int64_t count, const struct lamb_rule *rule, float rate, const float *m,
                const float *v, float *w);

#endif
