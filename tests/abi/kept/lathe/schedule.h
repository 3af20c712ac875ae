/* SPDX-License-Identifier: MIT */
/* A schedule is a factor on the learning rate, as a function of progress. `factor` is
 * mandatory. */
#ifndef LATHE_SCHEDULE_H
#define LATHE_SCHEDULE_H

#include "host.h"

/* ops->flags */
#define LATHE_NEEDS_HORIZON 1u /* refused where `until` gives no number of steps */

typedef struct lathe_progress {
    uint32_t size, reserved;
    int64_t step;            /* updates made so far: 0 before the first one */
    int64_t steps;           /* the horizon: updates in all; 0: not known */
    int64_t steps_per_epoch; /* 0: not known */
} lathe_progress;
#define LATHE_PROGRESS_SIZE_1_0 32u

typedef struct lathe_schedule_ops {
    LATHE_OPS_HEAD;
    /* The factor for the update that comes after `step` updates. Pure: the same
     * progress gives the same factor until observe is called. Must be finite and >= 0.
     * [any] */
    double (*factor)(const void *self, const lathe_progress *progress);
    /* A fresh value of the metric that option "watch" names; the only thing that
     * changes a schedule's state. NULL: it watches nothing. [loop] */
    void (*observe)(void *self, const lathe_progress *progress, double value);
} lathe_schedule_ops;
#define LATHE_SCHEDULE_OPS_SIZE_1_0 64u

#define LATHE_SCHEDULE(...)                                                            \
    LATHE_PLUGIN_(LATHE_KIND_SCHEDULE, lathe_schedule_ops, __VA_ARGS__)

#endif
