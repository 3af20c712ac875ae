/* SPDX-License-Identifier: MIT */
/* One update by RMSProp (Tieleman and Hinton, 2012; centred: Graves, arXiv 1308.0850),
 * the algorithm of PyTorch's torch.optim.RMSprop, element by element:
 *
 *   g = scale * gradient + decay * w
 *   v = keep * v + fresh * g^2                  the mean square; or centred, the
 *   a = a + fresh * (g - a)                     mean, and around it the variance
 *   v = keep * (v + fresh * (g - a)^2)          with the a before this update
 *   w = w - rate * g / (sqrt v + eps)           without momentum
 *   b = momentum * b + g / (sqrt v + eps),  w = w - rate * b
 *
 * Centred, PyTorch keeps the mean square and subtracts a^2 from it: the same number,
 * but in float the difference cancels, and below 0 has no root. This one cannot. */
#ifndef KERNELS_RMSPROP_H
#define KERNELS_RMSPROP_H

#include <stdint.h>

struct rmsprop_rule {
    float scale, rate, decay, keep, fresh, eps, momentum; /* fresh: 1 - keep */
};

/* w[count], gradient[count], v[count]; a[count]: centred, else NULL; b[count]: with
 * momentum, else NULL */
void rmsprop_update(int64_t count, const struct rmsprop_rule *rule,
                    const float *gradient, float *v, float *a, float *b, float *w);

#endif
