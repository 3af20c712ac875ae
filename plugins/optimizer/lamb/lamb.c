/* SPDX-License-Identifier: MIT */
/* LAMB: AdamW's direction, scaled for each parameter to the size of its weights. The
 * formula is in kernels/lamb.h; the trust ratio is |w| / |u|, and 1 where either is 0.
 * Parameters that do not decay (biases, norms) have no ratio unless "adapt" says so, as
 * in the authors' own code: a bias that starts at 0 would hardly ever leave it. */
#include <lathe/optimizer.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/lamb.h"

struct lamb {
    double beta1, beta2;
    float eps, weight_decay;
    int adapts_all;
    float unbias, widen; /* of the present update */
};

static lathe_status create(const lathe_host *host, void **self) {
    struct lamb *lamb = calloc(1, sizeof *lamb);
    if (!lamb) return lathe_fail(host, LATHE_ENOMEM, "no memory for the optimizer");
    lamb->beta1 = lathe_number(host, "betas/0");
    lamb->beta2 = lathe_number(host, "betas/1");
    lamb->eps = (float)lathe_number(host, "eps");
    lamb->weight_decay = (float)lathe_number(host, "weight_decay");
    lamb->adapts_all = strcmp(lathe_string(host, "adapt"), "all") == 0;
    *self = lamb;
    return LATHE_OK;
}

static int32_t slots(void *self, const char *const **names) {
    static const char *const moments[] = {"exp_avg", "exp_avg_sq"};
    (void)self;
    *names = moments;
    return 2;
}

static void begin(void *self, int64_t step, double rate) {
    struct lamb *lamb = self;
    (void)rate;
    lamb->unbias = (float)(1 / (1 - pow(lamb->beta1, (double)step)));
    lamb->widen = (float)(1 / sqrt(1 - pow(lamb->beta2, (double)step)));
}

static lathe_status step(void *self, const lathe_span *span) {
    const struct lamb *lamb = self;
    int decays = (span->flags & LATHE_DECAYS) != 0;
    const struct lamb_rule rule = {
        .scale = (float)span->scale,
        .fresh1 = (float)(1 - lamb->beta1),
        .beta2 = (float)lamb->beta2,
        .fresh2 = (float)(1 - lamb->beta2),
        .unbias = lamb->unbias,
        .widen = lamb->widen,
        .eps = lamb->eps,
        .decay = decays ? lamb->weight_decay : 0,
    };
    float *m = span->slots[0], *v = span->slots[1];
    const struct lamb_norms norms =
        lamb_moments(span->count, &rule, span->gradients, span->weights, m, v);
    double trust = 1;
    if ((decays || lamb->adapts_all) && norms.weights > 0 && norms.update > 0)
        trust = norms.weights / norms.update;
    lamb_apply(span->count, &rule, (float)(span->rate * trust), m, v, span->weights);
    return LATHE_OK;
}

LATHE_OPTIMIZER(.create = create, .destroy = free, .slots = slots, .begin = begin,
                .step = step);
