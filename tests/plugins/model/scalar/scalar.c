/* SPDX-License-Identifier: MIT */
/* One weight. The loss of a sample is its weight times w x, so with x = 1 and a
 * learning rate of 1 every step moves w by exactly 1. Metric "count" counts samples. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lathe/model.h>

struct scalar {
    const lathe_host *host;
    double start;
    const char *act;
    int64_t offset;
    int32_t square, input, weight, count, trains;
};

static void print(const struct scalar *m, const char *function) {
    if (!strcmp(m->act, "print")) printf("noise of %s\n", function);
}

/* Its frame is used after the call, so that it stays. */
static int overflow(volatile char *outer) {
    volatile char inner[4096];
    inner[0] = outer[0];
    return inner[0] ? 0 : overflow(inner) + inner[0];
}

/* Zero and nowhere, as the compiler does not know. */
static void act(const struct scalar *m) {
    volatile int zero = 0;
    volatile int *volatile nowhere = NULL;
    print(m, "forward");
    if (!strcmp(m->act, "exit")) exit(0);
    if (!strcmp(m->act, "crash")) *nowhere = 1;
    if (!strcmp(m->act, "divide")) zero = 7 / zero;
    if (!strcmp(m->act, "overflow")) overflow((volatile char[4096]){0});
}

static lathe_status create(const lathe_host *host, void **self) {
    struct scalar *m = calloc(1, sizeof *m);
    if (!m) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    m->host = host;
    m->start = lathe_number(host, "start");
    m->square = (int32_t)lathe_integer(host, "square");
    m->act = lathe_string(host, "act");
    print(m, "create");
    *self = m;
    return LATHE_OK;
}

static void destroy(void *self) {
    if (self) print(self, "destroy");
    free(self);
}

static int32_t find(const lathe_model_plan *plan, const char *name) {
    for (uint32_t i = 0; i < plan->field_count; i++)
        if (!strcmp(plan->fields[i]->name, name)) return (int32_t)i;
    return -1;
}

static lathe_status describe(void *self, const lathe_model_plan *plan) {
    struct scalar *m = self;
    const lathe_parameter w = {
        .size = sizeof w, .name = "w", .init = LATHE_INIT_CONSTANT, .a = m->start};
    const lathe_metric count = {
        .size = sizeof count, .name = "count", .flags = LATHE_HIGHER_IS_BETTER};
    const lathe_field y = {
        .size = sizeof y, .name = "y", .code = LATHE_FLOAT, .bits = 32};
    int32_t index;
    m->input = find(plan, "input");
    m->weight = find(plan, "weight");
    if (m->input < 0) return lathe_fail(m->host, LATHE_EINVAL, "no field \"input\"");
    if (plan->fields[m->input]->rank)
        return lathe_fail(m->host, LATHE_EINVAL, "\"input\" is more than one number");
    lathe_status status = plan->parameter(plan, &w, &index);
    if (status == LATHE_OK) status = plan->metric(plan, &count, &m->count);
    if (status == LATHE_OK) status = plan->output(plan, &y, &index);
    return status;
}

static lathe_status bind(void *self, const lathe_layout *layout) {
    struct scalar *m = self;
    m->offset = layout->offset[0];
    m->trains = layout->trainable[0];
    return LATHE_OK;
}

static const float *column(const lathe_pass *pass, int32_t index) {
    return index < 0 ? NULL : pass->batch->fields[index].data;
}

static lathe_status forward(void *self, lathe_pass *pass) {
    const struct scalar *m = self;
    const float *x = column(pass, m->input), *weight = column(pass, m->weight);
    const float w = pass->weights[m->offset];
    if (pass->batch->position > 0) act(m);
    for (int64_t i = 0; i < pass->batch->rows; i++) {
        double each = weight ? (double)weight[i] : 1, y = (double)w * (double)x[i];
        pass->loss_sum += each * (m->square ? y * y / 2 : y);
        pass->weight_sum += each;
        pass->metrics[2 * m->count] += 1;
        if (pass->outputs[0]) ((float *)pass->outputs[0])[i] = (float)y;
    }
    pass->metrics[2 * m->count + 1] = 1;
    return LATHE_OK;
}

static lathe_status backward(void *self, const lathe_pass *pass) {
    const struct scalar *m = self;
    const float *x = column(pass, m->input), *weight = column(pass, m->weight);
    const double w = (double)pass->weights[m->offset];
    if (!m->trains) return LATHE_OK;
    double sum = pass->add ? (double)pass->gradients[m->offset] : 0;
    for (int64_t i = 0; i < pass->batch->rows; i++) {
        double each = weight ? (double)weight[i] : 1, xi = (double)x[i];
        sum += each * (m->square ? w * xi * xi : xi);
    }
    pass->gradients[m->offset] = (float)sum;
    return LATHE_OK;
}

LATHE_MODEL(.create = create, .destroy = destroy, .describe = describe, .bind = bind,
            .forward = forward, .backward = backward);
