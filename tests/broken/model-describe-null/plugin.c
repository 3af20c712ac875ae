/* SPDX-License-Identifier: MIT */
/* The mandatory function "describe" is NULL. */
#include <lathe/model.h>

static lathe_status make(const lathe_host *host, void **self) {
    (void)host;
    (void)self;
    return LATHE_OK;
}

LATHE_MODEL(.create = make);
