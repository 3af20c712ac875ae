/* SPDX-License-Identifier: MIT */
/* factor(step) = the option "factor". */
#include <lathe/schedule.h>

#include <stdlib.h>

struct constant {
    double factor;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct constant *constant = malloc(sizeof *constant);
    if (!constant) return lathe_fail(host, LATHE_ENOMEM, "no memory for the schedule");
    constant->factor = lathe_number(host, "factor");
    *self = constant;
    return LATHE_OK;
}

static double factor(const void *self, const lathe_progress *progress) {
    const struct constant *constant = self;
    (void)progress;
    return constant->factor;
}

LATHE_SCHEDULE(.create = create, .destroy = free, .factor = factor);
