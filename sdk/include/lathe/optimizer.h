/* SPDX-License-Identifier: MIT */
/* An optimizer turns gradients into an update of the weights. Weights, gradients and
 * slots (momentum and the like) are blocks of the host's, so it keeps only constants.
 * `step` is mandatory, and so is an option named "lr". */
#ifndef LATHE_OPTIMIZER_H
#define LATHE_OPTIMIZER_H

#include "host.h"

/* ops->flags */
#define LATHE_ELEMENTWISE 1u /* spans may be cut anywhere; else: a whole parameter */

/* span->flags */
#define LATHE_DECAYS 1u /* weight decay applies to these weights */

/* Part of the blocks. Pointers are to the first of `count` floats. */
typedef struct lathe_span {
    uint32_t size, flags;
    int64_t first, count; /* place in the block, length; in floats */
    float *weights;
    const float *gradients; /* gradient * scale is the mean gradient, clipped */
    float *const *slots;    /* [slots], in the order of `slots`; 0 at the start */
    double scale;
    double rate;          /* learning rate of this update */
    int64_t step;         /* which update of these slots this is, from 1 */
    const int64_t *shape; /* [rank] of the parameter; NULL for element-wise ones */
    uint32_t rank, reserved;
} lathe_span;
#define LATHE_SPAN_SIZE_1_0 88u

typedef struct lathe_optimizer_ops {
    LATHE_OPS_HEAD;
    /* How many slots, each as long as the weights, and their names in *names (borrowed
     * until destroy). NULL: none. [load] */
    int32_t (*slots)(void *self, const char *const **names);
    /* Once before the spans of an update, alone: what depends on step and rate only.
     * May be NULL. [loop] */
    void (*begin)(void *self, int64_t step, double rate);
    /* Updates weights and slots of one span. The same bits however the block is cut,
     * when LATHE_ELEMENTWISE. Fails with LATHE_EPLUGIN. [any] */
    lathe_status (*step)(void *self, const lathe_span *span);
} lathe_optimizer_ops;
#define LATHE_OPTIMIZER_OPS_SIZE_1_0 72u

#define LATHE_OPTIMIZER(...)                                                           \
    LATHE_PLUGIN_(LATHE_KIND_OPTIMIZER, lathe_optimizer_ops, __VA_ARGS__)

#endif
