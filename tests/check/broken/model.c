/* SPDX-License-Identifier: MIT */
/* A sound model, and with -DFAULT_… one that is wrong in one way: least squares, its
 * hidden numbers squared, on "input" and "label" of any shape. */
#include <lathe/model.h>

#include <math.h>
#include <stdlib.h>

#define WIDTH 3

struct squares {
    const lathe_host *host;
    int64_t in, out, at, bias_at, described;
    uint32_t input, label;
    uint8_t trains, trains_bias, unused[6];
    float *hidden, *errors;
};

#ifdef FAULT_STATIC
static float shared[4096];
#endif

static lathe_status create(const lathe_host *host, void **self) {
    struct squares *m = calloc(1, sizeof *m);
    if (!m) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    m->host = host;
    *self = m;
    return LATHE_OK;
}

static void destroy(void *self) {
    struct squares *m = self;
#ifndef FAULT_STATIC
    free(m->hidden);
#endif
    free(m->errors);
    free(m);
}

static int64_t find(const struct squares *m, const lathe_model_plan *plan,
                    const char *name, uint32_t *index) {
    for (uint32_t i = 0; i < plan->field_count; i++) {
        int64_t width = 1;
        if (strcmp(plan->fields[i]->name, name) != 0) continue;
        for (uint32_t j = 0; j < plan->fields[i]->rank; j++)
            width *= plan->fields[i]->shape[j];
        *index = i;
        if (plan->fields[i]->code == LATHE_FLOAT) return width;
    }
    lathe_fail(m->host, LATHE_EINVAL, "no numbers in \"%s\"", name);
    return 0;
}

static lathe_status describe(void *self, const lathe_model_plan *plan) {
    struct squares *m = self;
    int32_t index;
    m->in = find(m, plan, "input", &m->input);
    m->out = m->in ? find(m, plan, "label", &m->label) : 0;
    if (!m->out) return LATHE_EINVAL;
    lathe_parameter w = {.size = sizeof w,
                         .name = "weight",
                         .shape = {WIDTH, m->in},
                         .rank = 2,
                         .init = LATHE_INIT_UNIFORM,
                         .a = -0.4,
                         .b = 0.4};
    const lathe_parameter bias = {.size = sizeof bias,
                                  .name = "bias",
                                  .flags = LATHE_NO_DECAY,
                                  .shape = {WIDTH},
                                  .rank = 1};
    const lathe_field y = {.size = sizeof y,
                           .name = "y",
                           .code = LATHE_FLOAT,
                           .bits = 32,
                           .rank = 1,
                           .shape = {WIDTH}};
#ifdef FAULT_DESCRIBE
    if (m->described++) w.a = -0.5;
#endif
    lathe_status status = plan->parameter(plan, &w, &index);
    if (status == LATHE_OK) status = plan->parameter(plan, &bias, &index);
    const lathe_metric accuracy = {
        .size = sizeof accuracy, .flags = LATHE_HIGHER_IS_BETTER, .name = "accuracy"};
    if (status == LATHE_OK) status = plan->metric(plan, &accuracy, &index);
    return status == LATHE_OK ? plan->output(plan, &y, &index) : status;
}

static lathe_status bind(void *self, const lathe_layout *layout) {
    struct squares *m = self;
#ifdef FAULT_BIND
    if (!m->errors)
#endif
    {
        m->at = layout->offset[0];
        m->bias_at = layout->offset[1];
    }
    m->trains = layout->trainable[0];
    m->trains_bias = layout->trainable[1];
    const size_t count = (size_t)(layout->rows_max * WIDTH);
    free(m->errors);
    m->errors = calloc(count, sizeof(float));
#ifdef FAULT_STATIC
    m->hidden = shared;
#else
    free(m->hidden);
    m->hidden = calloc(count, sizeof(float));
#endif
    if (m->hidden && m->errors) return LATHE_OK;
    return lathe_fail(m->host, LATHE_ENOMEM, "no memory");
}

static float hide(const struct squares *m, const lathe_pass *pass, int64_t row,
                  int64_t j) {
    const float *x = (const float *)pass->batch->fields[m->input].data + row * m->in;
    const float *w = pass->weights + m->at + j * m->in;
    float sum = pass->weights[m->bias_at + j];
    for (int64_t i = 0; i < m->in; i++) sum += w[i] * x[i];
    return sum;
}

static lathe_status forward(void *self, lathe_pass *pass) {
    struct squares *m = self;
    float *y = pass->outputs ? pass->outputs[0] : NULL;
    const float *label = pass->batch->fields[m->label].data;
#ifdef FAULT_LABEL
    if (label && label[0] < -1e30f) return LATHE_EDATA;
#endif
    for (int64_t row = 0; row < pass->batch->rows; row++)
        for (int64_t j = 0; j < WIDTH; j++) {
            const int64_t at = row * WIDTH + j;
            m->hidden[at] = hide(m, pass, row, j);
            if (y) y[at] = m->hidden[at] * m->hidden[at];
#ifdef FAULT_PREDICT
            if (y && pass->mode == LATHE_PREDICT) y[at] += 0.01f;
#endif
            if (pass->mode == LATHE_PREDICT) continue;
            m->errors[at] = m->hidden[at] * m->hidden[at] - label[row * m->out];
            pass->loss_sum += (double)m->errors[at] * (double)m->errors[at] / 2;
        }
    pass->weight_sum = (double)pass->batch->rows;
#ifdef FAULT_INFINITE
    for (int64_t i = 0; pass->mode == LATHE_TRAIN && i < pass->batch->rows; i++)
        pass->loss_sum += (double)expf(m->hidden[i] * m->hidden[i]);
#endif
    if (pass->mode != LATHE_PREDICT) {
        pass->metrics[0] = (double)pass->batch->rows / 2;
        pass->metrics[1] = (double)pass->batch->rows;
#ifdef FAULT_ACCURACY
        pass->metrics[0] = 100 * pass->metrics[0];
#endif
    }
#ifdef FAULT_WEIGHT
    pass->weight_sum = 1;
#endif
#ifdef FAULT_ADDRESS
    pass->loss_sum *= 1 + (double)((uintptr_t)m >> 4 & 0xffff) * 1e-12;
#endif
#ifdef FAULT_EVALUATE
    if (pass->mode == LATHE_EVALUATE) pass->loss_sum += 1e-3 * (double)m->described++;
#endif
#ifdef FAULT_WRITES
    if (pass->mode == LATHE_EVALUATE) ((float *)pass->weights)[m->at] += 1;
#endif
    return LATHE_OK;
}

static void add_row(const struct squares *m, const lathe_pass *pass, int64_t row) {
    const float *x = (const float *)pass->batch->fields[m->input].data + row * m->in;
    for (int64_t j = 0; j < WIDTH; j++) {
        float slope = 2 * m->hidden[row * WIDTH + j] * m->errors[row * WIDTH + j];
#ifdef FAULT_MEAN
        slope /= (float)pass->batch->rows;
#endif
#ifdef FAULT_BIAS
        if (m->trains_bias) pass->gradients[m->bias_at + j] += slope * 1.01f;
#else
        if (m->trains_bias) pass->gradients[m->bias_at + j] += slope;
#endif
#ifdef FAULT_PERCENT
        slope *= 1.01f;
#endif
#ifdef FAULT_ELEMENT
        if (row == 0 && j == 1) slope *= 0.9f;
#endif
        for (int64_t i = 0; m->trains && i < m->in; i++)
            pass->gradients[m->at + j * m->in + i] += slope * x[i];
    }
}

static lathe_status backward(void *self, const lathe_pass *pass) {
    struct squares *m = self;
#ifdef FAULT_FROZEN
    m->trains_bias = 1;
#endif
#ifdef FAULT_ADD
    const uint32_t add = 0;
#else
    const uint32_t add = pass->add;
#endif
    if (!add && m->trains)
        memset(pass->gradients + m->at, 0, (size_t)(m->in * WIDTH) * sizeof(float));
#ifdef FAULT_KEEPS
    if (pass->add)
#endif
        if (!add && m->trains_bias)
            memset(pass->gradients + m->bias_at, 0, WIDTH * sizeof(float));
    for (int64_t row = 0; row < pass->batch->rows; row++) add_row(m, pass, row);
    return LATHE_OK;
}

LATHE_MODEL(.create = create, .destroy = destroy, .describe = describe, .bind = bind,
            .forward = forward, .backward = backward);
