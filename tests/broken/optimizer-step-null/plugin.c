/* SPDX-License-Identifier: MIT */
/* The mandatory function "step" is NULL. */
#include <lathe/optimizer.h>

static lathe_status make(const lathe_host *host, void **self) {
    (void)host;
    (void)self;
    return LATHE_OK;
}

LATHE_OPTIMIZER(.create = make);
