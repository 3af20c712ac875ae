/* SPDX-License-Identifier: MIT */
#include "supervised.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/loss.h"

/* ---- fields ---- */

static lathe_status find_field(const struct supervised *s, const lathe_model_plan *plan,
                               const char *name, uint32_t *index) {
    char names[256] = "none";
    size_t used = 0;
    for (uint32_t i = 0; i < plan->field_count; i++) {
        *index = i;
        if (!strcmp(plan->fields[i]->name, name)) return LATHE_OK;
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s\"%s\"",
                                     i ? ", " : "", plan->fields[i]->name);
    }
    return lathe_fail(
        s->host, LATHE_EINVAL,
        "%s reads a field \"%s\", which the data does not have; fields: %s", s->model,
        name, names);
}

static const char *type_of(const lathe_field *field, char text[32]) {
    const char *code = field->code == LATHE_INT     ? "int"
                       : field->code == LATHE_UINT  ? "uint"
                       : field->code == LATHE_FLOAT ? "float"
                                                    : "bfloat";
    snprintf(text, 32, "%s%d", code, field->bits);
    return text;
}

/* Numbers of one sample, as one row. */
static lathe_status flatten(const struct supervised *s, const lathe_field *field,
                            int64_t *width) {
    char type[32];
    if (field->code != LATHE_FLOAT || field->bits != 32)
        return lathe_fail(s->host, LATHE_EINVAL,
                          "%s reads \"%s\" as float32; the data has it as %s", s->model,
                          field->name, type_of(field, type));
    int64_t count = 1;
    for (uint32_t i = 0; i < field->rank; i++) {
        if (field->shape[i] < 1 || field->shape[i] > INT_MAX / count)
            return lathe_fail(s->host, LATHE_EINVAL,
                              "field \"%s\" must have 1 to %d elements a sample",
                              field->name, INT_MAX);
        count *= field->shape[i];
    }
    *width = count;
    return LATHE_OK;
}

static lathe_status check_loss(const struct supervised *s, const lathe_field *label) {
    const char *loss = lathe_string(s->host, "loss");
    char type[32];
    if (!strcmp(loss, "mse") && label->classes > 0)
        return lathe_fail(s->host, LATHE_EINVAL,
                          "loss \"mse\" needs numbers, but \"label\" is one of %" PRId64
                          " classes: use \"cross-entropy\" or \"auto\"",
                          label->classes);
    if (!strcmp(loss, "cross-entropy") && label->classes <= 0)
        return lathe_fail(s->host, LATHE_EINVAL,
                          "loss \"cross-entropy\" needs classes, but \"label\" is a %s "
                          "without any: use \"mse\" or \"auto\"",
                          type_of(label, type));
    return LATHE_OK;
}

static lathe_status take_classes(struct supervised *s, const lathe_field *label) {
    char type[32];
    if (label->code != LATHE_INT || label->bits != 32 || label->rank != 0)
        return lathe_fail(
            s->host, LATHE_EINVAL,
            "loss \"cross-entropy\" needs one int32 a sample as \"label\"; "
            "the data has %s of rank %" PRIu32,
            type_of(label, type), label->rank);
    if (label->classes > INT_MAX)
        return lathe_fail(s->host, LATHE_EINVAL,
                          "\"label\" has %" PRId64 " classes; %s can tell %d apart",
                          label->classes, s->model, INT_MAX);
    s->classes = s->out = label->classes;
    return LATHE_OK;
}

lathe_status supervised_describe(struct supervised *s, const lathe_host *host,
                                 const char *model, const lathe_model_plan *plan) {
    *s = (struct supervised){.host = host, .model = model};
    lathe_status status = find_field(s, plan, "input", &s->input);
    if (status == LATHE_OK) status = find_field(s, plan, "label", &s->label);
    if (status == LATHE_OK) status = flatten(s, plan->fields[s->input], &s->in);
    if (status != LATHE_OK) return status;
    const lathe_field *label = plan->fields[s->label];
    status = check_loss(s, label);
    if (status != LATHE_OK) return status;
    return label->classes > 0 ? take_classes(s, label) : flatten(s, label, &s->out);
}

lathe_status supervised_declare(struct supervised *s, const lathe_model_plan *plan) {
    const lathe_field *label = plan->fields[s->label];
    const lathe_metric accuracy = {
        .size = sizeof accuracy, .flags = LATHE_HIGHER_IS_BETTER, .name = "accuracy"};
    lathe_field output = {.size = sizeof output,
                          .rank = 1,
                          .name = "output",
                          .code = LATHE_FLOAT,
                          .bits = 32,
                          .shape = {s->classes}};
    int32_t index;
    if (s->classes) {
        lathe_status status = plan->metric(plan, &accuracy, &s->accuracy);
        if (status != LATHE_OK) return status;
    } else {
        output.rank = label->rank;
        memcpy(output.shape, label->shape, sizeof output.shape);
    }
    return plan->output(plan, &output, &index);
}

/* ---- passes ---- */

static lathe_status check_labels(const struct supervised *s, const lathe_batch *batch,
                                 const int32_t *labels) {
    for (int64_t row = 0; row < batch->rows; row++)
        if (labels[row] < 0 || labels[row] >= s->classes)
            return lathe_fail(s->host, LATHE_EDATA,
                              "label %" PRId32 " at position %" PRId64
                              " is not one of the %" PRId64 " classes, 0 to %" PRId64,
                              labels[row], batch->position + row, s->classes,
                              s->classes - 1);
    return LATHE_OK;
}

lathe_status supervised_judge(const struct supervised *s, lathe_pass *pass,
                              const float *y, float *d) {
    const void *label = pass->batch->fields[s->label].data;
    int64_t rows = pass->batch->rows;
    if (s->classes) {
        lathe_status status = check_labels(s, pass->batch, label);
        if (status != LATHE_OK) return status;
        double *accuracy = pass->metrics + 2 * s->accuracy;
        accuracy[0] = (double)loss_rows_correct(rows, s->out, y, label);
        accuracy[1] = (double)rows;
        pass->loss_sum = loss_cross_entropy(rows, s->out, y, label, d);
    } else {
        pass->loss_sum = loss_squared_error(rows, s->out, y, label, d);
    }
    pass->weight_sum = (double)rows;
    return LATHE_OK;
}

float *supervised_rows(int64_t rows, int64_t width) {
    int64_t bytes;
    if (__builtin_mul_overflow(rows, width * (int64_t)sizeof(float), &bytes) ||
        __builtin_add_overflow(bytes, 64, &bytes))
        return NULL;
    return aligned_alloc(64, (size_t)(bytes & -64));
}
