/* SPDX-License-Identifier: MIT */
/* Has a helper of its own that others can find as EXPORT, the name of another's
 * function, and uses it: no other may run in its place. */
#include <lathe/callback.h>

#ifndef VALUE
#define VALUE 4711
#endif

__attribute__((visibility("default"))) int help_oneself(void) __asm__(EXPORT);
int help_oneself(void) {
    return VALUE;
}

static lathe_status make(const lathe_host *host, void **self) {
    (void)self;
    if (help_oneself() == VALUE) return LATHE_OK;
    return lathe_fail(host, LATHE_EPLUGIN, "%s of somebody else ran", EXPORT);
}

LATHE_CALLBACK(.create = make);
