/* SPDX-License-Identifier: MIT */
/* Asks for an option that its manifest does not declare. */
#include <lathe/callback.h>

static lathe_status make(const lathe_host *host, void **self) {
    (void)self;
    return lathe_number(host, "speed") > 0 ? LATHE_OK : LATHE_OK;
}

LATHE_CALLBACK(.create = make);
