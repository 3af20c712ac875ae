/* SPDX-License-Identifier: MIT */
/* The host's side of a model's describe and bind, for the unit tests of one model: it
 * records what is declared and lays the parameters out as the host does. */
#ifndef TESTS_SUPPORT_FAKE_PLAN_H
#define TESTS_SUPPORT_FAKE_PLAN_H

#include "test.h"

#include <stdio.h>
#include <string.h>

#include <lathe/model.h>

#define FAKE_PARAMETERS_MAX 32

struct fake_plan {
    lathe_model_plan table;
    lathe_parameter parameters[FAKE_PARAMETERS_MAX];
    char names[FAKE_PARAMETERS_MAX][48], metric_name[32], output_name[32];
    int64_t offset[FAKE_PARAMETERS_MAX], total; /* in floats */
    uint8_t trainable[FAKE_PARAMETERS_MAX];
    int32_t parameter_count, metric_count, output_count;
    lathe_metric metric;
    lathe_field output;
};

/* Fields of supervised data: "input" of two axes, and "label", which is one of so many
 * classes, or, with none, `width` values to come near. */
static inline lathe_field fake_input(int64_t rows, int64_t columns) {
    return (lathe_field){.size = sizeof(lathe_field),
                         .name = "input",
                         .code = LATHE_FLOAT,
                         .bits = 32,
                         .rank = 2,
                         .shape = {rows, columns}};
}

static inline lathe_field fake_label(int64_t classes, int64_t width) {
    return (lathe_field){.size = sizeof(lathe_field),
                         .name = "label",
                         .code = classes ? LATHE_INT : LATHE_FLOAT,
                         .bits = 32,
                         .rank = classes ? 0 : 1,
                         .shape = {width},
                         .classes = classes};
}

static inline lathe_status fake_parameter(const lathe_model_plan *plan,
                                          const lathe_parameter *parameter,
                                          int32_t *index) {
    struct fake_plan *fake = plan->context;
    int32_t i = fake->parameter_count++;
    int64_t count = 1;
    if (i >= FAKE_PARAMETERS_MAX) fail_msg("more than %d parameters", i);
    snprintf(fake->names[i], sizeof fake->names[i], "%s", parameter->name);
    fake->parameters[i] = *parameter;
    fake->parameters[i].name = fake->names[i];
    for (uint32_t k = 0; k < parameter->rank; k++) count *= parameter->shape[k];
    fake->offset[i] = fake->total;
    fake->trainable[i] = 1;
    fake->total += (count + 15) / 16 * 16;
    *index = i;
    return LATHE_OK;
}

static inline lathe_status fake_metric(const lathe_model_plan *plan,
                                       const lathe_metric *metric, int32_t *index) {
    struct fake_plan *fake = plan->context;
    *index = fake->metric_count++;
    fake->metric = *metric;
    snprintf(fake->metric_name, sizeof fake->metric_name, "%s", metric->name);
    fake->metric.name = fake->metric_name;
    return LATHE_OK;
}

static inline lathe_status fake_output(const lathe_model_plan *plan,
                                       const lathe_field *output, int32_t *index) {
    struct fake_plan *fake = plan->context;
    *index = fake->output_count++;
    fake->output = *output;
    snprintf(fake->output_name, sizeof fake->output_name, "%s", output->name);
    fake->output.name = fake->output_name;
    return LATHE_OK;
}

/* `fields` is borrowed. */
static inline void fake_plan_init(struct fake_plan *fake,
                                  const lathe_field *const *fields,
                                  uint32_t field_count) {
    memset(fake, 0, sizeof *fake);
    fake->table = (lathe_model_plan){.size = sizeof fake->table,
                                     .field_count = field_count,
                                     .context = fake,
                                     .fields = fields,
                                     .parameter = fake_parameter,
                                     .metric = fake_metric,
                                     .output = fake_output};
}

/* Binds slices of up to rows_max rows. */
static inline lathe_status fake_plan_bind(const struct fake_plan *fake,
                                          const lathe_model_ops *ops, void *self,
                                          int64_t rows_max) {
    lathe_layout layout = {.size = sizeof layout,
                           .parameter_count = (uint32_t)fake->parameter_count,
                           .offset = fake->offset,
                           .trainable = fake->trainable,
                           .rows_max = rows_max};
    return ops->bind(self, &layout);
}

#endif
