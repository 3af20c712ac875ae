/* SPDX-License-Identifier: MIT */
/* Crashes before anybody has called it. */
#include <stdlib.h>

#include <lathe/callback.h>

__attribute__((constructor)) static void load(void) {
    abort();
}

static lathe_status make(const lathe_host *host, void **self) {
    (void)host, (void)self;
    return LATHE_OK;
}

LATHE_CALLBACK(.create = make);
