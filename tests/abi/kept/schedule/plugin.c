/* SPDX-License-Identifier: MIT */
#include <lathe/schedule.h>
#include <math.h>
#include <stdlib.h>

struct kept_schedule {
    int64_t warmup;
};

static lathe_status make(const lathe_host *host, void **self) {
    struct kept_schedule *my = malloc(sizeof *my);
    if (!my) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    my->warmup = lathe_steps(host, "warmup");
    *self = my;
    return LATHE_OK;
}

/* The rate rises for `warmup` steps, then falls with the root of the step. It depends
 * on the progress alone: the same progress gives the same factor. */
static double factor(const void *self, const lathe_progress *progress) {
    const struct kept_schedule *my = self;
    const double step = (double)progress->step + 1, top = (double)my->warmup;
    return step < top ? step / top : sqrt(fmax(top, 1) / step);
}

LATHE_SCHEDULE(.create = make, .destroy = free, .factor = factor);
