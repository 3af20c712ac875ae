/* SPDX-License-Identifier: MIT */
/* A model at work by hand: what it described, where its parameters lie, some rows of
 * data, and one pass after another. */
#ifndef HOST_CHECK_DESK_H
#define HOST_CHECK_DESK_H

#include "check/bench.h"

#define DESK_OUTPUTS 16
#define DESK_ROWS 12

struct desk {
    struct bench *bench;
    struct plugin plugin;
    const lathe_model_ops *ops;
    struct parameters parameters;
    struct error refused; /* what it declared wrongly */
    int64_t metric_count, output_count, least_rows;
    int64_t accuracy;             /* the metric of that name; -1: there is none */
    int64_t widths[DESK_OUTPUTS]; /* bytes of an output's row */
    float *weights, *gradients;
    int64_t *offsets;
    uint8_t *trainable;
    int64_t rows;
    lathe_batch batch;
    lathe_tensor *tensors, *part; /* [fields]: all rows, and those of the pass */
    lathe_batch part_batch;
    double *metrics;
    void *outputs[DESK_OUTPUTS]; /* [rows, width] */
    void *places[DESK_OUTPUTS];
    lathe_pass pass;
};

/* Makes an instance, has it described and bound, weights somewhere between, data read.
 * What fails is a failure of the check, unless `err` is given: then describe's refusal
 * is told there. It is for desk_close either way. */
bool desk_open(struct desk *desk, struct bench *bench, struct error *err);
void desk_close(struct desk *desk);
/* Asks once more: the answers, for parameters_finish. */
bool desk_describe(struct desk *desk, struct parameters *parameters, struct error *err);
/* As offsets and trainable say, for slices of at most so many rows. */
bool desk_bind(struct desk *desk, int64_t rows_max);
/* Rows first … first+rows-1 forward, into desk->pass, metrics and outputs. */
bool desk_forward(struct desk *desk, uint32_t mode, int64_t first, int64_t rows);
bool desk_backward(struct desk *desk, float *gradients, bool add);
/* Loss of all rows under other weights, in training; NaN when it fails. */
double desk_loss(struct desk *desk, const float *weights);
/* Puts the weights somewhere around where they start; elsewhere for each variation. */
void desk_spread(struct desk *desk, int variation);
float *desk_block(const struct desk *desk); /* for block_destroy; filled with NaN */
bool desk_is_trained(const struct desk *desk, int64_t parameter);
bool desk_is_label(const struct desk *desk, uint32_t field);

/* Runs a test on each kind of data that the model takes. */
void desk_each(struct check *check, bool (*test)(struct desk *));

#endif
