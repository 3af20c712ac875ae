/* SPDX-License-Identifier: MIT */
/* Says why it cannot be made; the run ends before step 0 with its words. */
#include <lathe/callback.h>

static lathe_status make(const lathe_host *host, void **self) {
    (void)self;
    return lathe_fail(host, LATHE_EDATA, "the table of %d rows is bad", 7);
}

LATHE_CALLBACK(.create = make);
