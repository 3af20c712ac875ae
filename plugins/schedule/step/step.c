/* SPDX-License-Identifier: MIT */
/* Stairs: after every `every` steps of the run the rate is multiplied once more,
 *
 *   factor(step) = rise(step) factor^floor(step / every)
 *
 * where rise is the warm-up's (step + 1) / w for step < w, and then 1. A warm-up does
 * not move the stairs: "every": "30ep" is epochs 30, 60, 90 with one or without.
 * Without one, torch.optim.lr_scheduler.StepLR. */
#include <lathe/schedule.h>

#include <math.h>
#include <stdlib.h>

#include "../warmup.h"

struct stairs {
    int64_t warmup, every; /* steps */
    double factor;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct stairs *stairs = malloc(sizeof *stairs);
    if (!stairs) return lathe_fail(host, LATHE_ENOMEM, "no memory for the schedule");
    stairs->warmup = warmup_read(host);
    stairs->every = lathe_steps(host, "every");
    stairs->factor = lathe_number(host, "factor");
    *self = stairs;
    return LATHE_OK;
}

static double factor(const void *self, const lathe_progress *progress) {
    const struct stairs *stairs = self;
    int64_t stair = progress->step / stairs->every;
    return warmup_rise(progress->step, stairs->warmup) *
           pow(stairs->factor, (double)stair);
}

LATHE_SCHEDULE(.create = create, .destroy = free, .factor = factor);
