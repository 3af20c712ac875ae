/* SPDX-License-Identifier: MIT */
/* The mandatory function "read" is NULL. */
#include <lathe/dataset.h>

static lathe_status make(const lathe_host *host, void **self) {
    (void)host;
    (void)self;
    return LATHE_OK;
}

static lathe_status describe(void *self, const lathe_data_plan *plan) {
    (void)self;
    (void)plan;
    return LATHE_OK;
}

LATHE_DATASET(.create = make, .describe = describe);
