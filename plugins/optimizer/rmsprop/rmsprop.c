/* SPDX-License-Identifier: MIT */
/* RMSProp, as torch.optim.RMSprop: centred or not, with momentum or not, weight decay
 * coupled to the gradient. The formula is in kernels/rmsprop.h. */
#include <lathe/optimizer.h>

#include <stdlib.h>

#include "kernels/rmsprop.h"

struct rmsprop {
    double alpha;
    float eps, momentum, weight_decay;
    int centered;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct rmsprop *rmsprop = malloc(sizeof *rmsprop);
    if (!rmsprop) return lathe_fail(host, LATHE_ENOMEM, "no memory for the optimizer");
    rmsprop->alpha = lathe_number(host, "alpha");
    rmsprop->eps = (float)lathe_number(host, "eps");
    rmsprop->momentum = (float)lathe_number(host, "momentum");
    rmsprop->weight_decay = (float)lathe_number(host, "weight_decay");
    rmsprop->centered = lathe_integer(host, "centered") != 0;
    *self = rmsprop;
    return LATHE_OK;
}

static int32_t slots(void *self, const char *const **names) {
    static const char *const plain[] = {"square_avg", "momentum"};
    static const char *const centered[] = {"variance", "grad_avg", "momentum"};
    const struct rmsprop *rmsprop = self;
    *names = rmsprop->centered ? centered : plain;
    return 1 + rmsprop->centered + (rmsprop->momentum > 0);
}

static lathe_status step(void *self, const lathe_span *span) {
    const struct rmsprop *rmsprop = self;
    const struct rmsprop_rule rule = {
        .scale = (float)span->scale,
        .rate = (float)span->rate,
        .decay = span->flags & LATHE_DECAYS ? rmsprop->weight_decay : 0,
        .keep = (float)rmsprop->alpha,
        .fresh = (float)(1 - rmsprop->alpha),
        .eps = rmsprop->eps,
        .momentum = rmsprop->momentum,
    };
    float *mean = rmsprop->centered ? span->slots[1] : NULL;
    float *momentum = rmsprop->momentum > 0 ? span->slots[1 + rmsprop->centered] : NULL;
    rmsprop_update(span->count, &rule, span->gradients, span->slots[0], mean, momentum,
                   span->weights);
    return LATHE_OK;
}

LATHE_OPTIMIZER(.flags = LATHE_ELEMENTWISE, .create = create, .destroy = free,
                .slots = slots, .step = step);
