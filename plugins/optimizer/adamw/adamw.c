/* SPDX-License-Identifier: MIT */
/* AdamW, as torch.optim.AdamW without amsgrad. The formula is in kernels/adamw.h; what
 * depends on step and rate alone is computed once an update, in double. */
#include <lathe/optimizer.h>

#include <math.h>
#include <stdlib.h>

#include "kernels/adamw.h"

struct adamw {
    double beta1, beta2, weight_decay;
    float eps;
    float shrink, pace, widen; /* of the present update */
};

static lathe_status create(const lathe_host *host, void **self) {
    struct adamw *adamw = calloc(1, sizeof *adamw);
    if (!adamw) return lathe_fail(host, LATHE_ENOMEM, "no memory for the optimizer");
    adamw->beta1 = lathe_number(host, "betas/0");
    adamw->beta2 = lathe_number(host, "betas/1");
    adamw->eps = (float)lathe_number(host, "eps");
    adamw->weight_decay = lathe_number(host, "weight_decay");
    *self = adamw;
    return LATHE_OK;
}

static int32_t slots(void *self, const char *const **names) {
    static const char *const moments[] = {"exp_avg", "exp_avg_sq"};
    (void)self;
    *names = moments;
    return 2;
}

static void begin(void *self, int64_t step, double rate) {
    struct adamw *adamw = self;
    adamw->shrink = (float)(1 - rate * adamw->weight_decay);
    adamw->pace = (float)(rate / (1 - pow(adamw->beta1, (double)step)));
    adamw->widen = (float)(1 / sqrt(1 - pow(adamw->beta2, (double)step)));
}

static lathe_status step(void *self, const lathe_span *span) {
    const struct adamw *adamw = self;
    const struct adamw_rule rule = {
        .scale = (float)span->scale,
        .shrink = span->flags & LATHE_DECAYS ? adamw->shrink : 1,
        .fresh1 = (float)(1 - adamw->beta1),
        .beta2 = (float)adamw->beta2,
        .fresh2 = (float)(1 - adamw->beta2),
        .pace = adamw->pace,
        .widen = adamw->widen,
        .eps = adamw->eps,
    };
    adamw_update(span->count, &rule, span->gradients, span->slots[0], span->slots[1],
                 span->weights);
    return LATHE_OK;
}

LATHE_OPTIMIZER(.flags = LATHE_ELEMENTWISE, .create = create, .destroy = free,
                .slots = slots, .begin = begin, .step = step);
