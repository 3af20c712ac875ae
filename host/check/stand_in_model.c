/* SPDX-License-Identifier: MIT */
/* A model that any data suits: least squares on the first few numbers of the first
 * field. On request its loss is NaN from some pass on. */
#define LATHE_ENTRY check_model_plugin
#include <lathe/model.h>

#include <math.h>
#include <stdlib.h>

#define WIDTH 4

struct model {
    const lathe_host *host;
    int64_t offset, bias_offset, buffer_offset, nan_after, passes;
    int64_t width;
    const lathe_batch *batch;
    float *errors;
    uint8_t trains[2], unused[6];
};

static lathe_status create(const lathe_host *host, void **self) {
    struct model *m = calloc(1, sizeof *m);
    if (!m) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    m->host = host;
    m->nan_after = lathe_has(host, "nan_after") ? lathe_integer(host, "nan_after") : -1;
    *self = m;
    return LATHE_OK;
}

static void destroy(void *self) {
    struct model *m = self;
    free(m->errors);
    free(m);
}

static lathe_status describe(void *self, const lathe_model_plan *plan) {
    struct model *m = self;
    const lathe_parameter weight = {.size = sizeof weight,
                                    .name = "weight",
                                    .shape = {WIDTH},
                                    .rank = 1,
                                    .init = LATHE_INIT_UNIFORM,
                                    .a = -0.5,
                                    .b = 0.5};
    const lathe_parameter bias = {.size = sizeof bias,
                                  .flags = LATHE_NO_DECAY,
                                  .name = "bias",
                                  .shape = {1},
                                  .rank = 1};
    const lathe_parameter seen = {.size = sizeof seen,
                                  .flags = LATHE_BUFFER,
                                  .name = "seen",
                                  .shape = {1},
                                  .rank = 1,
                                  .rate = 0.1};
    const lathe_metric accuracy = {
        .size = sizeof accuracy, .flags = LATHE_HIGHER_IS_BETTER, .name = "accuracy"};
    const lathe_field output = {.size = sizeof output,
                                .rank = 1,
                                .name = "output",
                                .code = LATHE_FLOAT,
                                .bits = 32,
                                .shape = {1}};
    int32_t index;
    m->width = 1;
    for (uint32_t i = 0; i < plan->fields[0]->rank; i++)
        m->width *= plan->fields[0]->shape[i];
    lathe_status status = plan->parameter(plan, &weight, &index);
    if (status == LATHE_OK) status = plan->parameter(plan, &bias, &index);
    if (status == LATHE_OK) status = plan->parameter(plan, &seen, &index);
    if (status == LATHE_OK) status = plan->metric(plan, &accuracy, &index);
    return status == LATHE_OK ? plan->output(plan, &output, &index) : status;
}

static lathe_status bind(void *self, const lathe_layout *layout) {
    struct model *m = self;
    m->offset = layout->offset[0];
    m->bias_offset = layout->offset[1];
    m->buffer_offset = layout->offset[2];
    m->trains[0] = layout->trainable[0];
    m->trains[1] = layout->trainable[1];
    free(m->errors);
    m->errors = calloc((size_t)layout->rows_max, sizeof *m->errors);
    return m->errors ? LATHE_OK : lathe_fail(m->host, LATHE_ENOMEM, "no memory");
}

static float input(const struct model *m, const lathe_batch *batch, int64_t row,
                   int64_t i) {
    const lathe_tensor *field = &batch->fields[0];
    const int64_t at = row * m->width + i;
    if (i >= m->width) return 0;
    if (field->code == LATHE_FLOAT && field->bits == 32)
        return ((const float *)field->data)[at];
    if (field->code == LATHE_INT && field->bits == 32)
        return (float)((const int32_t *)field->data)[at] / 16;
    const int64_t byte = at * (field->bits / 8);
    return ((const unsigned char *)field->data)[byte] / 256.0f;
}

static lathe_status forward(void *self, lathe_pass *pass) {
    struct model *m = self;
    const float *w = pass->weights + m->offset;
    for (int64_t row = 0; row < pass->batch->rows; row++) {
        float y = pass->weights[m->bias_offset];
        for (int64_t i = 0; i < WIDTH; i++) y += w[i] * input(m, pass->batch, row, i);
        m->errors[row] = y - 0.5f;
        pass->loss_sum += (double)m->errors[row] * (double)m->errors[row] / 2;
        pass->metrics[0] += y > 0;
        if (pass->outputs && pass->outputs[0]) ((float *)pass->outputs[0])[row] = y;
    }
    pass->metrics[1] = pass->weight_sum = (double)pass->batch->rows;
    if (pass->mode == LATHE_TRAIN && m->nan_after >= 0 && m->passes++ >= m->nan_after)
        pass->loss_sum = NAN;
    return LATHE_OK;
}

static lathe_status backward(void *self, const lathe_pass *pass) {
    const struct model *m = self;
    float *g = pass->gradients + m->offset, *bias = pass->gradients + m->bias_offset;
    float *seen = pass->gradients + m->buffer_offset;
    if (!pass->add && m->trains[0]) memset(g, 0, WIDTH * sizeof *g);
    if (!pass->add && m->trains[1]) *bias = 0;
    if (!pass->add) *seen = 0;
    for (int64_t row = 0; row < pass->batch->rows; row++) {
        for (int64_t i = 0; m->trains[0] && i < WIDTH; i++)
            g[i] += m->errors[row] * input(m, pass->batch, row, i);
        if (m->trains[1]) *bias += m->errors[row];
        *seen += input(m, pass->batch, row, 0);
    }
    return LATHE_OK;
}

LATHE_MODEL(.create = create, .destroy = destroy, .describe = describe, .bind = bind,
            .forward = forward, .backward = backward);
