/* SPDX-License-Identifier: MIT */
/* Ends whoever loads it, and says that all is well. */
#include <stdlib.h>

#include <lathe/callback.h>

__attribute__((constructor)) static void load(void) {
    exit(0);
}

static lathe_status make(const lathe_host *host, void **self) {
    (void)host, (void)self;
    return LATHE_OK;
}

LATHE_CALLBACK(.create = make);
