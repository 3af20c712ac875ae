/* SPDX-License-Identifier: MIT */
/* Calls what nobody defines; the call is far away, so only RTLD_NOW finds it in
 * time. */
#include <lathe/callback.h>

int lathe_no_such_function(void);

static lathe_status make(const lathe_host *host, void **self) {
    (void)host;
    (void)self;
    return LATHE_OK;
}

static lathe_status at_end(void *self, const lathe_moment *at) {
    (void)self;
    (void)at;
    return lathe_no_such_function();
}

LATHE_CALLBACK(.create = make, .run_end = at_end);
