/* SPDX-License-Identifier: MIT */
/* Warm-up and cosine (Loshchilov and Hutter, "SGDR", arXiv 1608.03983, one cycle). With
 * a warm-up of w steps and a horizon of n,
 *
 *   factor(step) = (step + 1) / w                                  step < w
 *   factor(step) = floor + (1 - floor) (1 + cos(pi t)) / 2         step >= w
 *   t = (step - w) / (n - w), 1 at the horizon and beyond it
 *
 * so the first update is at 1/w of the rate, the w-th at all of it. */
#include <lathe/schedule.h>

#include <math.h>
#include <stdlib.h>

#include "../warmup.h"

static const double pi = 3.14159265358979323846;

struct cosine {
    int64_t warmup; /* steps */
    double floor;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct cosine *cosine = malloc(sizeof *cosine);
    if (!cosine) return lathe_fail(host, LATHE_ENOMEM, "no memory for the schedule");
    cosine->warmup = warmup_read(host);
    cosine->floor = lathe_number(host, "floor");
    *self = cosine;
    return LATHE_OK;
}

static double factor(const void *self, const lathe_progress *progress) {
    const struct cosine *cosine = self;
    int64_t step = progress->step, warmup = cosine->warmup;
    if (step < warmup) return warmup_rise(step, warmup);
    double t = warmup_done(step, warmup, progress->steps - warmup);
    return cosine->floor + (1 - cosine->floor) * (1 + cos(pi * t)) / 2;
}

LATHE_SCHEDULE(.flags = LATHE_NEEDS_HORIZON, .create = create, .destroy = free,
               .factor = factor);
