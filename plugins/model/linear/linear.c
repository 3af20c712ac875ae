/* SPDX-License-Identifier: MIT */
/* Linear and logistic regression: y = x . weight^T + bias.
 *
 * Reads "input" (float32 of any rank, taken as one row) and "label", and chooses its
 * loss by it, as all models of the two do (supervised.h): classes make it
 * multinomial logistic regression, numbers least squares. Parameters are weight
 * [out,in], as in PyTorch, and bias [out], which does not decay; both start uniform
 * in ±1/sqrt(in), as torch.nn.Linear does. It is mlp without hidden layers, under
 * shorter names. The weight of a slice is its rows. */
#include <lathe/model.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../supervised.h"
#include "kernels/dense.h"
#include "kernels/panels.h"

struct linear {
    const lathe_host *host;
    const struct dense *dense; /* what computes the products */
    struct supervised data;
    int32_t weight, bias;       /* parameters */
    int64_t weight_at, bias_at; /* their offsets */
    uint8_t trains_weight, trains_bias;
    float *x; /* panels [rows,in] of the input */
    float *y; /* panels [rows,out]: output, then the gradient of the losses by it */
    float *rows, *d; /* [rows,out]: the same two, row by row */
};

static void release_rows(struct linear *linear) {
    free(linear->x);
    free(linear->y);
    free(linear->rows);
    free(linear->d);
    linear->x = linear->y = linear->rows = linear->d = NULL;
}

static void destroy(void *self) {
    release_rows(self);
    free(self);
}

static lathe_status create(const lathe_host *host, void **self) {
    struct linear *linear = calloc(1, sizeof *linear);
    if (!linear) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    linear->host = host;
    linear->dense = dense_choose();
    lathe_note(host, "products", dense_describe(linear->dense));
    *self = linear;
    return LATHE_OK;
}

static lathe_status describe(void *self, const lathe_model_plan *plan) {
    struct linear *linear = self;
    lathe_status status =
        supervised_describe(&linear->data, linear->host, "linear", plan);
    if (status != LATHE_OK) return status;
    const double bound = 1 / sqrt((double)linear->data.in);
    const lathe_parameter weight = {.size = sizeof weight,
                                    .name = "weight",
                                    .shape = {linear->data.out, linear->data.in},
                                    .rank = 2,
                                    .init = LATHE_INIT_UNIFORM,
                                    .a = -bound,
                                    .b = bound};
    lathe_parameter bias = weight;
    bias.flags = LATHE_NO_DECAY;
    bias.name = "bias";
    bias.shape[1] = 0;
    bias.rank = 1;
    status = plan->parameter(plan, &weight, &linear->weight);
    if (status == LATHE_OK) status = plan->parameter(plan, &bias, &linear->bias);
    return status == LATHE_OK ? supervised_declare(&linear->data, plan) : status;
}

static lathe_status bind(void *self, const lathe_layout *layout) {
    struct linear *linear = self;
    linear->weight_at = layout->offset[linear->weight];
    linear->bias_at = layout->offset[linear->bias];
    linear->trains_weight = layout->trainable[linear->weight];
    linear->trains_bias = layout->trainable[linear->bias];
    release_rows(linear);
    const int64_t rows = dense_padded(linear->dense, layout->rows_max);
    linear->x = supervised_rows(rows, linear->data.in);
    linear->y = supervised_rows(rows, linear->data.out);
    linear->rows = supervised_rows(rows, linear->data.out);
    linear->d = supervised_rows(rows, linear->data.out);
    if (linear->x && linear->y && linear->rows && linear->d) return LATHE_OK;
    release_rows(linear);
    return lathe_fail(linear->host, LATHE_ENOMEM,
                      "no memory for slices of %" PRId64 " rows", layout->rows_max);
}

static lathe_status forward(void *self, lathe_pass *pass) {
    struct linear *linear = self;
    const struct supervised *data = &linear->data;
    const int64_t rows = pass->batch->rows, wide = dense_wide(linear->dense, rows);
    panels_pack(rows, data->in, wide, pass->batch->fields[data->input].data, linear->x);
    linear->dense->forward(rows, data->in, data->out, wide, linear->x,
                           pass->weights + linear->weight_at,
                           pass->weights + linear->bias_at, linear->y);
    panels_unpack(rows, data->out, wide, linear->y, linear->rows);
    if (pass->outputs && pass->outputs[0])
        memcpy(pass->outputs[0], linear->rows,
               (size_t)(rows * data->out) * sizeof(float));
    if (pass->mode == LATHE_PREDICT) return LATHE_OK;
    lathe_status status = supervised_judge(data, pass, linear->rows, linear->d);
    if (status == LATHE_OK) panels_pack(rows, data->out, wide, linear->d, linear->y);
    return status;
}

static lathe_status backward(void *self, const lathe_pass *pass) {
    const struct linear *linear = self;
    const struct supervised *data = &linear->data;
    const int64_t rows = pass->batch->rows, wide = dense_wide(linear->dense, rows);
    const float *x = pass->batch->fields[data->input].data;
    const int add = pass->add != 0;
    if (linear->trains_weight)
        linear->dense->backward_weight(rows, data->in, data->out, wide, linear->y, x,
                                       add, pass->gradients + linear->weight_at);
    if (linear->trains_bias)
        panels_backward_bias(rows, data->out, wide, linear->y, add,
                             pass->gradients + linear->bias_at);
    return LATHE_OK;
}

LATHE_MODEL(.create = create, .destroy = destroy, .describe = describe, .bind = bind,
            .forward = forward, .backward = backward);
