/* SPDX-License-Identifier: MIT */
#include <lathe/optimizer.h>
#include <stdlib.h>

struct kept_optimizer {
    float momentum;
};

static lathe_status make(const lathe_host *host, void **self) {
    struct kept_optimizer *my = malloc(sizeof *my);
    if (!my) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    my->momentum = (float)lathe_number(host, "momentum");
    *self = my;
    return LATHE_OK;
}

static int32_t slots(void *self, const char *const **names) {
    static const char *const velocity[] = {"velocity"};
    (void)self;
    *names = velocity;
    return 1; /* one number for each weight, kept by the host, 0 at the start */
}

/* Several threads at once, each on spans of its own, of any length */
static lathe_status step(void *self, const lathe_span *span) {
    const struct kept_optimizer *my = self;
    const float scale = (float)span->scale, rate = (float)span->rate;
    float *velocity = span->slots[0];
    for (int64_t i = 0; i < span->count; i++) {
        const float gradient = span->gradients[i] * scale; /* the mean, clipped */
        velocity[i] = my->momentum * velocity[i] + gradient;
        span->weights[i] -= rate * velocity[i];
    }
    return LATHE_OK;
}

LATHE_OPTIMIZER(.flags = LATHE_ELEMENTWISE, .create = make, .destroy = free,
                .slots = slots, .step = step);
