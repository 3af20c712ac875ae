/* SPDX-License-Identifier: MIT */
/* Lion: the sign of a momentum, with decoupled weight decay. The formula is in
 * kernels/lion.h. */
#include <lathe/optimizer.h>

#include <stdlib.h>

#include "kernels/lion.h"

struct lion {
    double beta1, beta2, weight_decay;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct lion *lion = malloc(sizeof *lion);
    if (!lion) return lathe_fail(host, LATHE_ENOMEM, "no memory for the optimizer");
    lion->beta1 = lathe_number(host, "betas/0");
    lion->beta2 = lathe_number(host, "betas/1");
    lion->weight_decay = lathe_number(host, "weight_decay");
    *self = lion;
    return LATHE_OK;
}

static int32_t slots(void *self, const char *const **names) {
    static const char *const momentum[] = {"exp_avg"};
    (void)self;
    *names = momentum;
    return 1;
}

static lathe_status step(void *self, const lathe_span *span) {
    const struct lion *lion = self;
    double decay = span->flags & LATHE_DECAYS ? lion->weight_decay : 0;
    const struct lion_rule rule = {
        .scale = (float)span->scale,
        .shrink = (float)(1 - span->rate * decay),
        .rate = (float)span->rate,
        .fresh1 = (float)(1 - lion->beta1),
        .fresh2 = (float)(1 - lion->beta2),
    };
    lion_update(span->count, &rule, span->gradients, span->slots[0], span->weights);
    return LATHE_OK;
}

LATHE_OPTIMIZER(.flags = LATHE_ELEMENTWISE, .create = create, .destroy = free,
                .slots = slots, .step = step);
