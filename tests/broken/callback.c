/* SPDX-License-Identifier: MIT */
/* The smallest sound plugin: most faults are this one, spoiled. */
#include <stdlib.h>

#include <lathe/callback.h>

static lathe_status make(const lathe_host *host, void **self) {
    void *state = malloc(1);
    if (!state) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    *self = state;
    return LATHE_OK;
}

LATHE_CALLBACK(.create = make, .destroy = free);
