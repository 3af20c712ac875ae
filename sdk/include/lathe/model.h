/* SPDX-License-Identifier: MIT */
/* A model says which parameters it wants and computes losses and gradients on slices of
 * batches. It owns none of the weights: the host lays all parameters out in one block
 * and hands base pointers to every pass. It holds no threads: the host runs one
 * instance per shard. `describe`, `bind`, `forward` and `backward` are mandatory. */
#ifndef LATHE_MODEL_H
#define LATHE_MODEL_H

#include "host.h"

/* pass->mode */
#define LATHE_TRAIN 1u
#define LATHE_EVALUATE 2u /* loss and metrics, no gradients, nothing random */
#define LATHE_PREDICT 3u  /* outputs only; labels are not there */

/* ops->flags */
/* Statistics of the batch: shards are part of the mathematics. */
#define LATHE_COUPLES_ROWS 1u

/* How a parameter starts: a and b are value and nothing; mean and deviation; low and
 * high. */
#define LATHE_INIT_CONSTANT 0u
#define LATHE_INIT_NORMAL 1u
#define LATHE_INIT_UNIFORM 2u

typedef struct lathe_parameter {
    uint32_t size, flags; /* LATHE_NO_DECAY, LATHE_BUFFER */
    const char *name;     /* "layers.0.weight"; unique; copied */
    int64_t shape[LATHE_RANK_MAX];
    uint32_t rank, init;
    double a, b;
    double rate; /* buffers: b += rate * (mean statistic - b), once per step */
} lathe_parameter;
#define LATHE_PARAMETER_SIZE_1_0 96u

/* The host's side of describe. Indices count from 0 in the order of the calls. */
typedef struct lathe_model_plan {
    uint32_t size, field_count;
    void *context;
    const lathe_field *const *fields; /* [field_count] of the training data */
    /* Declares the next parameter. LATHE_EINVAL: a name twice, a shape that cannot
     * be. */
    lathe_status (*parameter)(const struct lathe_model_plan *, const lathe_parameter *,
                              int32_t *index);
    /* Declares the next metric; "loss" is the host's own. Fails as parameter. */
    lathe_status (*metric)(const struct lathe_model_plan *, const lathe_metric *,
                           int32_t *index);
    /* Declares the next output, by the shape of one sample. Fails as parameter. */
    lathe_status (*output)(const struct lathe_model_plan *, const lathe_field *,
                           int32_t *index);
    /* The least rows a slice may have; 1 unless called. */
    void (*least_rows)(const struct lathe_model_plan *, int64_t rows);
} lathe_model_plan;

/* Where the parameters lie. Valid during bind. */
typedef struct lathe_layout {
    uint32_t size, parameter_count;
    /* Of parameter i in every block, in floats; each parameter is 64-byte aligned. */
    const int64_t *offset;
    const uint8_t *trainable; /* 0: frozen, has no place in the gradient block */
    int64_t rows_max;         /* no slice will have more */
} lathe_layout;

/* One slice through the model. The host sets all but the sums and the metrics'
 * values. */
typedef struct lathe_pass {
    uint32_t size, mode;
    const lathe_batch *batch;
    const float *weights; /* base of the block, for this call only */
    float *gradients;     /* base of this shard's block; NULL unless training */
    uint32_t add;         /* backward: 0 overwrites every gradient, 1 adds to it */
    uint32_t reserved;
    lathe_key key;        /* of this model in this epoch, the same for every instance */
    double loss_sum;      /* 0 on entry; from forward: the sum of the losses … */
    double weight_sum;    /* … and what it is summed over: samples, tokens; 0 too */
    double *metrics;      /* [2 * declared]: sum, weight; 0 on entry */
    void *const *outputs; /* [declared]: this slice's rows; NULL: not wanted */
} lathe_pass;

typedef struct lathe_model_ops {
    LATHE_OPS_HEAD;
    /* Looks fields up by name and declares parameters, metrics and outputs; the same on
     * every instance. Fails with LATHE_EINVAL where the data does not suit. [load] */
    lathe_status (*describe)(void *self, const lathe_model_plan *plan);
    /* Takes the layout and makes room for rows_max rows. May come again, with another
     * layout. Fails with LATHE_ENOMEM. [load] */
    lathe_status (*bind)(void *self, const lathe_layout *layout);
    /* Computes loss_sum, weight_sum, metrics and wanted outputs of the slice, and keeps
     * what backward needs. In LATHE_PREDICT sums and metrics may be left alone.
     * Fails with LATHE_EDATA on values that cannot be. [work] */
    lathe_status (*forward)(void *self, lathe_pass *pass);
    /* Writes (or adds) the gradient of the SUM of the losses of the forward just made,
     * for every trainable parameter; never divides. For a buffer: statistic * weight.
     * [work] */
    lathe_status (*backward)(void *self, const lathe_pass *pass);
} lathe_model_ops;
#define LATHE_MODEL_OPS_SIZE_1_0 80u

#define LATHE_MODEL(...) LATHE_PLUGIN_(LATHE_KIND_MODEL, lathe_model_ops, __VA_ARGS__)

#endif
