/* SPDX-License-Identifier: MIT */
/* A model at work by hand: what it described, where its parameters lie, some rows of
 * data, and one pass after another. */
#ifndef HOST_CHECK_MODEL_FIXTURE_H
#define HOST_CHECK_MODEL_FIXTURE_H

#include "check/fixture.h"

#define MODEL_OUTPUTS 16
#define MODEL_ROWS 12

struct model_fixture {
    struct fixture *fixture;
    struct plugin plugin;
    const lathe_model_ops *ops;
    struct parameters parameters;
    struct error refused; /* what it declared wrongly */
    int64_t metric_count, output_count, least_rows;
    int64_t accuracy;              /* the metric of that name; -1: there is none */
    int64_t widths[MODEL_OUTPUTS]; /* bytes of an output's row */
    float *weights, *gradients;
    int64_t *offsets;
    uint8_t *trainable;
    int64_t rows;
    lathe_batch batch;
    lathe_tensor *tensors, *part; /* [fields]: all rows, and those of the pass */
    lathe_batch part_batch;
    double *metrics;
    void *outputs[MODEL_OUTPUTS]; /* [rows, width] */
    void *places[MODEL_OUTPUTS];
    lathe_pass pass;
};

/* Makes an instance, has it described and bound, weights somewhere between, data read.
 * What fails is a failure of the check, unless `err` is given: then describe's refusal
 * is told there. It is for model_fixture_close either way. */
bool model_fixture_open(struct model_fixture *model, struct fixture *fixture,
                        struct error *err);
void model_fixture_close(struct model_fixture *model);
/* Asks once more: the answers, for parameters_finish. */
bool model_fixture_describe(struct model_fixture *model, struct parameters *parameters,
                            struct error *err);
/* As offsets and trainable say, for slices of at most so many rows. */
bool model_fixture_bind(struct model_fixture *model, int64_t rows_max);
/* Rows first … first+rows-1 forward, into model->pass, metrics and outputs. */
bool model_fixture_forward(struct model_fixture *model, uint32_t mode, int64_t first,
                           int64_t rows);
bool model_fixture_backward(struct model_fixture *model, float *gradients, bool add);
/* Loss of all rows under other weights, in training; NaN when it fails. */
double model_fixture_loss(struct model_fixture *model, const float *weights);
/* Puts the weights somewhere around where they start; elsewhere for each variation. */
void model_fixture_spread(struct model_fixture *model, int variation);
float *model_fixture_block(
    const struct model_fixture *model); /* for block_destroy; filled with NaN */
bool model_fixture_is_trained(const struct model_fixture *model, int64_t parameter);
bool model_fixture_is_label(const struct model_fixture *model, uint32_t field);

/* Runs a test on each kind of data that the model takes. */
void model_fixture_each(struct check *check, bool (*test)(struct model_fixture *));

#endif
