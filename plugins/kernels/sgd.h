/* SPDX-License-Identifier: MIT */
/* One update by gradient descent, element by element:
 *
 *   g = scale * gradient + decay * w
 *   b = keep * b + fresh * g                    with momentum
 *   w = w - rate * g                            without momentum
 *   w = w - rate * b                            with momentum
 *   w = w - rate * (g + keep * b)               with Nesterov's
 *
 * the algorithm of PyTorch's torch.optim.SGD (after Sutskever et al., ICML 2013): keep
 * is momentum; fresh is 1 - dampening, but 1 in the first update: b starts as g. */
#ifndef KERNELS_SGD_H
#define KERNELS_SGD_H

#include <stdint.h>

struct sgd_rule {
    float scale, rate, decay, keep, fresh;
};

/* w[count], gradient[count] */
void sgd_plain(int64_t count, const struct sgd_rule *rule, const float *gradient,
               float *w);
/* w[count], gradient[count], b[count] */
void sgd_momentum(int64_t count, const struct sgd_rule *rule, const float *gradient,
                  float *b, float *w);
void sgd_nesterov(int64_t count, const struct sgd_rule *rule, const float *gradient,
                  float *b, float *w);

#endif
