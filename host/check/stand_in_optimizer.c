/* SPDX-License-Identifier: MIT */
/* Plain gradient descent. */
#define LATHE_ENTRY check_optimizer_plugin
#include <lathe/optimizer.h>

static lathe_status create(const lathe_host *host, void **self) {
    (void)host;
    *self = NULL;
    return LATHE_OK;
}

static lathe_status step(void *self, const lathe_span *span) {
    const float rate = (float)(span->rate * span->scale);
    (void)self;
    for (int64_t i = 0; i < span->count; i++)
        span->weights[i] -= rate * span->gradients[i];
    return LATHE_OK;
}

LATHE_OPTIMIZER(.flags = LATHE_ELEMENTWISE, .create = create, .step = step);
