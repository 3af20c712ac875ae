/* SPDX-License-Identifier: MIT */
/* Stochastic gradient descent, as torch.optim.SGD: momentum, dampening, Nesterov,
 * weight decay coupled to the gradient. The formula is in kernels/sgd.h. */
#include <lathe/optimizer.h>

#include <stdlib.h>

#include "kernels/sgd.h"

struct sgd {
    float momentum, dampening, weight_decay;
    int nesterov;
};

static lathe_status create(const lathe_host *host, void **self) {
    float momentum = (float)lathe_number(host, "momentum");
    float dampening = (float)lathe_number(host, "dampening");
    int nesterov = lathe_integer(host, "nesterov") != 0;
    if (nesterov && momentum == 0)
        return lathe_fail(host, LATHE_EINVAL,
                          "\"nesterov\" needs a \"momentum\" greater than 0");
    if (nesterov && dampening != 0)
        return lathe_fail(host, LATHE_EINVAL,
                          "\"nesterov\" needs \"dampening\" to be 0; it is %g",
                          (double)dampening);
    struct sgd *sgd = malloc(sizeof *sgd);
    if (!sgd) return lathe_fail(host, LATHE_ENOMEM, "no memory for the optimizer");
    *sgd = (struct sgd){.momentum = momentum,
                        .dampening = dampening,
                        .weight_decay = (float)lathe_number(host, "weight_decay"),
                        .nesterov = nesterov};
    *self = sgd;
    return LATHE_OK;
}

static int32_t slots(void *self, const char *const **names) {
    static const char *const momentum[] = {"momentum"};
    const struct sgd *sgd = self;
    *names = momentum;
    return sgd->momentum > 0 ? 1 : 0;
}

static lathe_status step(void *self, const lathe_span *span) {
    const struct sgd *sgd = self;
    const struct sgd_rule rule = {
        .scale = (float)span->scale,
        .rate = (float)span->rate,
        .decay = span->flags & LATHE_DECAYS ? sgd->weight_decay : 0,
        .keep = sgd->momentum,
        .fresh = span->step == 1 ? 1 : 1 - sgd->dampening,
    };
    if (sgd->momentum == 0)
        sgd_plain(span->count, &rule, span->gradients, span->weights);
    else if (sgd->nesterov)
        sgd_nesterov(span->count, &rule, span->gradients, span->slots[0],
                     span->weights);
    else
        sgd_momentum(span->count, &rule, span->gradients, span->slots[0],
                     span->weights);
    return LATHE_OK;
}

LATHE_OPTIMIZER(.flags = LATHE_ELEMENTWISE, .create = create, .destroy = free,
                .slots = slots, .step = step);
