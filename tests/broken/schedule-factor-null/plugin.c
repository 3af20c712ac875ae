/* SPDX-License-Identifier: MIT */
/* The mandatory function "factor" is NULL. */
#include <lathe/schedule.h>

static lathe_status make(const lathe_host *host, void **self) {
    (void)host;
    (void)self;
    return LATHE_OK;
}

LATHE_SCHEDULE(.create = make);
