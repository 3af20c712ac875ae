/* SPDX-License-Identifier: MIT */
#include <lathe/model.h>
#include <stdlib.h>
#include <string.h>

/* Least squares: y = weight . x + bias, the loss of a sample is (y - label)^2 */
struct kept_model {
    const lathe_host *host;
    uint32_t input, label;      /* fields */
    int64_t in;                 /* values of a sample */
    int32_t weight, bias;       /* parameters … */
    int64_t weight_at, bias_at; /* … and where they lie */
    int trains_weight, trains_bias;
    float *errors; /* [rows] y - label, from forward for backward */
};

static lathe_status make(const lathe_host *host, void **self) {
    struct kept_model *my = calloc(1, sizeof *my);
    if (!my) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    my->host = host;
    *self = my;
    return LATHE_OK;
}

static void destroy(void *self) {
    struct kept_model *my = self;
    free(my->errors);
    free(my);
}

static lathe_status describe(void *self, const lathe_model_plan *plan) {
    struct kept_model *my = self;
    const lathe_field *input = NULL, *label = NULL;
    for (uint32_t i = 0; i < plan->field_count; i++) {
        if (!strcmp(plan->fields[i]->name, "input"))
            input = plan->fields[my->input = i];
        if (!strcmp(plan->fields[i]->name, "label"))
            label = plan->fields[my->label = i];
    }
    if (!input || input->code != LATHE_FLOAT || input->bits != 32)
        return lathe_fail(my->host, LATHE_EINVAL, "the data has no float32 \"input\"");
    if (!label || label->code != LATHE_FLOAT || label->bits != 32 || label->rank != 0)
        return lathe_fail(my->host, LATHE_EINVAL,
                          "the data has no \"label\" that is one float32");
    my->in = 1;
    for (uint32_t i = 0; i < input->rank; i++) my->in *= input->shape[i];
    const lathe_parameter weight = {.size = sizeof weight,
                                    .name = "weight",
                                    .shape = {my->in},
                                    .rank = 1,
                                    .init = LATHE_INIT_NORMAL,
                                    .b = 0.01};
    const lathe_parameter bias = {.size = sizeof bias,
                                  .name = "bias",
                                  .shape = {1},
                                  .rank = 1,
                                  .flags = LATHE_NO_DECAY};
    const lathe_field output = {
        .size = sizeof output, .name = "output", .code = LATHE_FLOAT, .bits = 32};
    int32_t index;
    lathe_status status = plan->parameter(plan, &weight, &my->weight);
    if (status == LATHE_OK) status = plan->parameter(plan, &bias, &my->bias);
    if (status == LATHE_OK) status = plan->output(plan, &output, &index);
    return status;
}

static lathe_status bind(void *self, const lathe_layout *layout) {
    struct kept_model *my = self;
    my->weight_at = layout->offset[my->weight];
    my->bias_at = layout->offset[my->bias];
    my->trains_weight = layout->trainable[my->weight];
    my->trains_bias = layout->trainable[my->bias];
    free(my->errors);
    my->errors = calloc((size_t)layout->rows_max + 1, sizeof *my->errors);
    return my->errors ? LATHE_OK : lathe_fail(my->host, LATHE_ENOMEM, "out of memory");
}

static lathe_status forward(void *self, lathe_pass *pass) {
    struct kept_model *my = self;
    const float *weight = pass->weights + my->weight_at;
    const float *x = pass->batch->fields[my->input].data; /* [rows, in] */
    const float *label = pass->mode == LATHE_PREDICT
                             ? NULL
                             : pass->batch->fields[my->label].data; /* [rows] */
    float *output = pass->outputs ? pass->outputs[0] : NULL;
    double sum = 0;
    for (int64_t row = 0; row < pass->batch->rows; row++, x += my->in) {
        float y = pass->weights[my->bias_at];
        for (int64_t i = 0; i < my->in; i++) y += weight[i] * x[i];
        if (output) output[row] = y;
        if (!label) continue;
        my->errors[row] = y - label[row];
        sum += (double)my->errors[row] * (double)my->errors[row];
    }
    pass->loss_sum = sum;
    pass->weight_sum = (double)pass->batch->rows;
    return LATHE_OK;
}

/* The gradient of the sum of the losses: the host divides. */
static lathe_status backward(void *self, const lathe_pass *pass) {
    const struct kept_model *my = self;
    float *weight = pass->gradients + my->weight_at,
          *bias = pass->gradients + my->bias_at;
    const float *x = pass->batch->fields[my->input].data;
    if (!pass->add && my->trains_weight)
        memset(weight, 0, (size_t)my->in * sizeof *weight);
    if (!pass->add && my->trains_bias) *bias = 0;
    for (int64_t row = 0; row < pass->batch->rows; row++, x += my->in) {
        const float d = 2 * my->errors[row];
        for (int64_t i = 0; my->trains_weight && i < my->in; i++) weight[i] += d * x[i];
        if (my->trains_bias) *bias += d;
    }
    return LATHE_OK;
}

LATHE_MODEL(.create = make, .destroy = destroy, .describe = describe, .bind = bind,
            .forward = forward, .backward = backward);
