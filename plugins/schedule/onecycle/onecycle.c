/* SPDX-License-Identifier: MIT */
/* One cycle (Smith and Topin, "Super-convergence", arXiv 1708.07120): up to the highest
 * rate, and down to next to nothing. With a horizon of n, the top at step
 * p = pct_start n - 1 (0 where that is less), s = max / div_factor and
 * e = s / final_div_factor,
 *
 *   factor(step) = from s to max, t = step / p                      step < p
 *   factor(step) = from max to e, t = (step - p) / (n - 1 - p)      step >= p
 *
 * along half a cosine or a line, and e beyond the last step, n - 1:
 * torch.optim.lr_scheduler.OneCycleLR, where the optimizer's "lr" is its max_lr. */
#include <lathe/schedule.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

struct onecycle {
    double start, max, end; /* factors */
    double pct_start;
    int is_straight;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct onecycle *onecycle = malloc(sizeof *onecycle);
    if (!onecycle) return lathe_fail(host, LATHE_ENOMEM, "no memory for the schedule");
    onecycle->max = lathe_number(host, "max");
    onecycle->start = onecycle->max / lathe_number(host, "div_factor");
    onecycle->end = onecycle->start / lathe_number(host, "final_div_factor");
    onecycle->pct_start = lathe_number(host, "pct_start");
    onecycle->is_straight = strcmp(lathe_string(host, "shape"), "linear") == 0;
    *self = onecycle;
    return LATHE_OK;
}

/* From a to b as t goes from 0 to 1. */
static double between(const struct onecycle *onecycle, double a, double b, double t) {
    double left = onecycle->is_straight ? 1 - t : (1 + cos(pi * t)) / 2;
    return b + (a - b) * left;
}

static double factor(const void *self, const lathe_progress *progress) {
    const struct onecycle *onecycle = self;
    double step = (double)progress->step, last = (double)progress->steps - 1;
    double top = fmax(onecycle->pct_start * (double)progress->steps - 1, 0);
    if (step > last) return onecycle->end;
    if (step < top)
        return between(onecycle, onecycle->start, onecycle->max, step / top);
    double t = last > top ? (step - top) / (last - top) : 0;
    return between(onecycle, onecycle->max, onecycle->end, t);
}

LATHE_SCHEDULE(.flags = LATHE_NEEDS_HORIZON, .create = create, .destroy = free,
               .factor = factor);
