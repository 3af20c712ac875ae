/* SPDX-License-Identifier: MIT */
/* Warm-up and a line. With a warm-up of w steps, a horizon of n, and o = n - w unless
 * the option "over" is given,
 *
 *   factor(step) = from (step + 1) / w                 step < w
 *   factor(step) = from + (to - from) t                step >= w
 *   t = (step - w) / o, 1 from there on
 *
 * Without a warm-up and with "over", torch.optim.lr_scheduler.LinearLR. */
#include <lathe/schedule.h>

#include <stdlib.h>

#include "../warmup.h"

struct linear {
    int64_t warmup, over; /* steps; over 0: to the horizon */
    double from, to;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct linear *linear = malloc(sizeof *linear);
    if (!linear) return lathe_fail(host, LATHE_ENOMEM, "no memory for the schedule");
    linear->warmup = warmup_read(host);
    linear->over = lathe_has(host, "over") ? lathe_steps(host, "over") : 0;
    linear->from = lathe_number(host, "from");
    linear->to = lathe_number(host, "to");
    *self = linear;
    return LATHE_OK;
}

static double factor(const void *self, const lathe_progress *progress) {
    const struct linear *linear = self;
    int64_t step = progress->step, warmup = linear->warmup;
    int64_t over = linear->over ? linear->over : progress->steps - warmup;
    double t = warmup_done(step, warmup, over);
    return warmup_rise(step, warmup) * (linear->from * (1 - t) + linear->to * t);
}

LATHE_SCHEDULE(.flags = LATHE_NEEDS_HORIZON, .create = create, .destroy = free,
               .factor = factor);
