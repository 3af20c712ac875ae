/* SPDX-License-Identifier: MIT */
/* A callback is called at points of the loop, in the order of the experiment file. A
 * slot that is NULL is not subscribed to and costs nothing. No point is mandatory.
 *
 *   run_begin
 *     epoch_begin
 *       step_begin
 *         batch_begin  forward  loss_ready  backward  batch_end      x accumulate
 *       gradients_ready   the mean gradient of the window, before clipping
 *       step_end          after the update; counters are the new ones
 *       validation_begin  validation_batch_end…  validation_end      when due
 *     epoch_end           after the validation of the epoch's last step
 *   run_end               always, exactly once
 *
 * Where a checkpoint is only looked at (lathe eval), there is no run, and the
 * validation points come alone.
 *
 * A point returns LATHE_OK; LATHE_STOP to end the run after this step, which is saved
 * (say why through host->request); a failure to end it with a report. After a failure
 * in step_begin … gradients_ready or validation_… the last whole step is saved. In
 * run_begin, epoch_begin, step_end and epoch_end weights or states are new that others
 * have not seen: nothing is saved, and the newest checkpoint before is left. So keep
 * trouble from outside for the next step_begin, or return LATHE_STOP. */
#ifndef LATHE_CALLBACK_H
#define LATHE_CALLBACK_H

#include "host.h"

/* ops->flags */
#define LATHE_WANTS_OUTPUTS 1u /* moment->outputs is filled at the batch points */

/* Where the run is. Valid during the call. */
typedef struct lathe_moment {
    /* resumed, at run_begin: 1 where the run goes on; 2 where it begins, with the state
     * of another run, whose files are elsewhere; else 0. */
    uint32_t size, resumed;
    int64_t stage, epoch;     /* from 1 */
    int64_t step;             /* updates made: 0 at the start */
    int64_t micro;            /* of the window, from 0 */
    int64_t samples;          /* training samples visited, all ranks */
    int64_t steps_total;      /* updates in all; 0: not known */
    int64_t steps_per_epoch;  /* 0: not known */
    double loss;              /* mean over the window, or over the validation, so far */
    double weight;            /* what that mean is over */
    double gradient_norm;     /* of the mean gradient, before clipping */
    double rate;              /* learning rate of this step (of group 0) */
    const char *split;        /* "train", "validation", "test" */
    const char *reason;       /* run_end: "completed", "stopped", …; else NULL */
    const lathe_batch *batch; /* batch points: the micro-batch, all slices; else NULL */
    const lathe_tensor *outputs; /* [outputs], of the same rows; NULL: not wanted */
} lathe_moment;
#define LATHE_MOMENT_SIZE_1_0 128u

typedef struct lathe_callback_ops {
    LATHE_OPS_HEAD;
    /* All points are [loop]. */
    lathe_status (*run_begin)(void *self, const lathe_moment *at);
    lathe_status (*epoch_begin)(void *self, const lathe_moment *at);
    lathe_status (*step_begin)(void *self, const lathe_moment *at);
    lathe_status (*batch_begin)(void *self, const lathe_moment *at);
    lathe_status (*loss_ready)(void *self, const lathe_moment *at);
    lathe_status (*batch_end)(void *self, const lathe_moment *at);
    lathe_status (*gradients_ready)(void *self, const lathe_moment *at);
    lathe_status (*step_end)(void *self, const lathe_moment *at);
    lathe_status (*validation_begin)(void *self, const lathe_moment *at);
    lathe_status (*validation_batch_end)(void *self, const lathe_moment *at);
    lathe_status (*validation_end)(void *self, const lathe_moment *at);
    lathe_status (*epoch_end)(void *self, const lathe_moment *at);
    lathe_status (*run_end)(void *self, const lathe_moment *at);
} lathe_callback_ops;
#define LATHE_CALLBACK_OPS_SIZE_1_0 152u

#define LATHE_CALLBACK(...)                                                            \
    LATHE_PLUGIN_(LATHE_KIND_CALLBACK, lathe_callback_ops, __VA_ARGS__)

#endif
