/* SPDX-License-Identifier: MIT */
/* Warm-up and a power of what is left. With a warm-up of w steps and a horizon of n,
 *
 *   factor(step) = (step + 1) / w                        step < w
 *   factor(step) = end + (1 - end) (1 - t)^power         step >= w
 *   t = (step - w) / (n - w), 1 at the horizon and beyond it
 *
 * Without a warm-up and an end, torch.optim.lr_scheduler.PolynomialLR over the run. */
#include <lathe/schedule.h>

#include <math.h>
#include <stdlib.h>

#include "../warmup.h"

struct polynomial {
    int64_t warmup; /* steps */
    double power, end;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct polynomial *polynomial = malloc(sizeof *polynomial);
    if (!polynomial)
        return lathe_fail(host, LATHE_ENOMEM, "no memory for the schedule");
    polynomial->warmup = warmup_read(host);
    polynomial->power = lathe_number(host, "power");
    polynomial->end = lathe_number(host, "end");
    *self = polynomial;
    return LATHE_OK;
}

static double factor(const void *self, const lathe_progress *progress) {
    const struct polynomial *polynomial = self;
    int64_t step = progress->step, warmup = polynomial->warmup;
    double end = polynomial->end;
    double t = warmup_done(step, warmup, progress->steps - warmup);
    return warmup_rise(step, warmup) *
           (end + (1 - end) * pow(1 - t, polynomial->power));
}

LATHE_SCHEDULE(.flags = LATHE_NEEDS_HORIZON, .create = create, .destroy = free,
               .factor = factor);
