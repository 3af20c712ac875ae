/* SPDX-License-Identifier: MIT */
/* A callback that subscribes to every point of a step and does nothing: what is
 * measured with it is the host's own. */
#include <lathe/callback.h>

static lathe_status create(const lathe_host *host, void **self) {
    (void)host;
    *self = NULL;
    return LATHE_OK;
}

static lathe_status nothing(void *self, const lathe_moment *at) {
    (void)self;
    (void)at;
    return LATHE_OK;
}

LATHE_CALLBACK(.create = create, .step_begin = nothing, .batch_begin = nothing,
               .loss_ready = nothing, .batch_end = nothing, .gradients_ready = nothing,
               .step_end = nothing);
