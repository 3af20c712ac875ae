/* SPDX-License-Identifier: MIT */
/* Never comes back to whoever loads it. */
#define _DEFAULT_SOURCE
#include <unistd.h>

#include <lathe/callback.h>

__attribute__((constructor)) static void load(void) {
    for (;;) pause();
}

static lathe_status make(const lathe_host *host, void **self) {
    (void)host, (void)self;
    return LATHE_OK;
}

LATHE_CALLBACK(.create = make);
