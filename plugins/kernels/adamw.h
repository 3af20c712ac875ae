/* SPDX-License-Identifier: MIT */
/* One update by AdamW (Loshchilov and Hutter, "Decoupled weight decay regularization",
 * arXiv 1711.05101), the algorithm of PyTorch's torch.optim.AdamW, element by element:
 *
 *   g = scale * gradient
 *   w = w * shrink                              shrink = 1 - rate * weight_decay
 *   m = m + (1 - beta1) (g - m)
 *   v = beta2 * v + (1 - beta2) g^2
 *   w = w - pace * m / (sqrt v * widen + eps)   pace = rate / (1 - beta1^step)
 *                                               widen = 1 / sqrt(1 - beta2^step) */
#ifndef KERNELS_ADAMW_H
#define KERNELS_ADAMW_H

#include <stdint.h>

struct adamw_rule {
    float scale, shrink, fresh1, beta2, fresh2, pace, widen, eps; /* fresh: 1 - beta */
};

/* w[count], gradient[count], m[count], v[count] */
void adamw_update(int64_t count, const struct adamw_rule *rule, const float *gradient,
                  float *m, float *v, float *w);

#endif
