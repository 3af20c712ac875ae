/* SPDX-License-Identifier: MIT */
/* Ends the whole program, and says that all is well. */
#include <stdlib.h>

#include <lathe/callback.h>

static lathe_status make(const lathe_host *host, void **self) {
    (void)host, (void)self;
    exit(0);
}

LATHE_CALLBACK(.create = make);
