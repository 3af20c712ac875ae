/* SPDX-License-Identifier: MIT */
#include "check/desk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 64
#define FLOATS_MAX ((int64_t)1 << 26) /* of a block */
#define FLOATS_AT_EDGES ((int64_t)1 << 20)
#define SPREAD 0.1 /* of weights around their start: somewhere in general position */
enum { PURPOSE_WEIGHTS = 100 };

/* ---- describe ---- */

struct describing {
    struct desk *desk;
    struct parameters *parameters;
    int64_t metrics, outputs;
};

static lathe_status take_parameter(const lathe_model_plan *plan,
                                   const lathe_parameter *p, int32_t *index) {
    struct describing *at = plan->context;
    return parameters_declare(at->parameters, p, index, &at->desk->refused);
}

static lathe_status take_metric(const lathe_model_plan *plan,
                                const lathe_metric *metric, int32_t *index) {
    struct describing *at = plan->context;
    if (!manifest_declares_metric(at->desk->bench->use->manifest, metric->name))
        return fail(&at->desk->refused, LATHE_EPLUGIN,
                    "its manifest does not list the metric \"%s\"",
                    metric->name ? metric->name : "");
    if (!strcmp(metric->name, "accuracy")) at->desk->accuracy = at->metrics;
    *index = (int32_t)at->metrics++;
    return LATHE_OK;
}

static lathe_status take_output(const lathe_model_plan *plan, const lathe_field *field,
                                int32_t *index) {
    struct describing *at = plan->context;
    lathe_status status = session_check_field(NULL, 0, field, &at->desk->refused);
    if (status != LATHE_OK) return status;
    if (at->outputs == DESK_OUTPUTS)
        return fail(&at->desk->refused, LATHE_EINVAL, "more than %d outputs",
                    DESK_OUTPUTS);
    int64_t width = field->bits / 8;
    for (uint32_t i = 0; i < field->rank; i++) width *= field->shape[i];
    at->desk->widths[at->outputs] = width;
    *index = (int32_t)at->outputs++;
    return LATHE_OK;
}

static void take_least_rows(const lathe_model_plan *plan, int64_t rows) {
    ((struct describing *)plan->context)->desk->least_rows = rows;
}

bool desk_describe(struct desk *desk, struct parameters *parameters,
                   struct error *err) {
    const struct data_set *data = &desk->bench->session->data[SPLIT_TRAIN];
    const lathe_field *fields[FIELDS_MAX];
    struct describing at = {.desk = desk, .parameters = parameters};
    for (int64_t i = 0; i < data->field_count && i < FIELDS_MAX; i++)
        fields[i] = &data->fields[i];
    const lathe_model_plan plan = {.size = sizeof plan,
                                   .field_count = (uint32_t)data->field_count,
                                   .context = &at,
                                   .fields = fields,
                                   .parameter = take_parameter,
                                   .metric = take_metric,
                                   .output = take_output,
                                   .least_rows = take_least_rows};
    desk->least_rows = 1;
    check_doing(desk->bench->check, "describe");
    lathe_status status = desk->ops->describe(desk->plugin.self, &plan);
    desk->metric_count = at.metrics;
    desk->output_count = at.outputs;
    if (desk->refused.status != LATHE_OK)
        return check_fail(desk->bench->check, "describe: %s", desk->refused.what);
    if (status == LATHE_OK && desk->plugin.misuse.status == LATHE_OK) return true;
    if (err)
        plugin_failure(&desk->plugin, status, "describe", err);
    else
        bench_went_well(desk->bench, &desk->plugin, status, "describe");
    return false;
}

/* ---- blocks and data ---- */

bool desk_is_trained(const struct desk *desk, int64_t i) {
    return !(desk->parameters.items[i].flags & LATHE_BUFFER) && desk->trainable[i];
}

bool desk_is_label(const struct desk *desk, uint32_t field) {
    const char *name = desk->bench->session->data[SPLIT_TRAIN].fields[field].name;
    return !strcmp(name, "label");
}

float *desk_block(const struct desk *desk) {
    float *block = block_create(desk->parameters.size);
    for (int64_t i = 0; block && i < desk->parameters.size; i++) block[i] = NAN;
    return block;
}

void desk_spread(struct desk *desk, int variation) {
    const struct bench *bench = desk->bench;
    const uint32_t purpose = PURPOSE_WEIGHTS + (uint32_t)variation;
    parameters_initialise(&desk->parameters,
                          session_key(bench->session, bench->use, PURPOSE_INIT, 0),
                          desk->weights);
    for (int64_t i = 0; i < desk->parameters.count; i++) {
        const struct parameter *p = &desk->parameters.items[i];
        if (p->flags & LATHE_BUFFER) continue;
        for (int64_t j = 0; j < p->count; j++)
            desk->weights[p->offset + j] +=
                (float)(SPREAD *
                        check_normal(bench->check, purpose, (uint64_t)(p->offset + j)));
    }
}

static bool make_blocks(struct desk *desk) {
    const size_t count = (size_t)desk->parameters.count + 1;
    desk->offsets = calloc(count, sizeof *desk->offsets);
    desk->trainable = calloc(count, sizeof *desk->trainable);
    desk->weights = block_create(desk->parameters.size);
    desk->gradients = block_create(desk->parameters.size);
    desk->metrics = calloc((size_t)desk->metric_count * 2 + 1, sizeof(double));
    if (!desk->offsets || !desk->trainable || !desk->weights || !desk->gradients ||
        !desk->metrics)
        return check_fail(desk->bench->check, "no memory for the model's blocks");
    for (int64_t i = 0; i < desk->parameters.count; i++) {
        desk->offsets[i] = desk->parameters.items[i].offset;
        desk->trainable[i] = 1;
    }
    desk_spread(desk, desk->bench->variation);
    return true;
}

static bool read_data(struct desk *desk) {
    struct bench *bench = desk->bench;
    struct data_set *data = &bench->session->data[SPLIT_TRAIN];
    const lathe_dataset_ops *ops = data->plugin.ops;
    int64_t indices[DESK_ROWS];
    desk->rows = data->samples < DESK_ROWS ? data->samples : DESK_ROWS;
    desk->tensors = calloc((size_t)data->field_count + 1, sizeof *desk->tensors);
    desk->part = calloc((size_t)data->field_count + 1, sizeof *desk->part);
    if (!desk->tensors || !desk->part) return check_fail(bench->check, "out of memory");
    for (int64_t i = 0; i < data->field_count; i++) {
        size_t bytes;
        desk->tensors[i] = bench_tensor(&data->fields[i], desk->rows, 0, &bytes);
        if (!desk->tensors[i].data) return check_fail(bench->check, "out of memory");
    }
    for (int64_t i = 0; i < desk->rows; i++)
        indices[i] = (i + bench->variation) % data->samples;
    desk->batch = (lathe_batch){.size = sizeof desk->batch,
                                .field_count = (uint32_t)data->field_count,
                                .rows = desk->rows,
                                .epoch = 1,
                                .fields = desk->tensors};
    for (int64_t i = 0; i < desk->output_count; i++) {
        desk->outputs[i] = calloc((size_t)desk->rows, (size_t)desk->widths[i]);
        if (!desk->outputs[i]) return check_fail(bench->check, "out of memory");
    }
    lathe_status status = ops->read(data->plugin.self, indices, &desk->batch);
    return bench_went_well(bench, &data->plugin, status, "the data's read");
}

/* ---- passes ---- */

bool desk_bind(struct desk *desk, int64_t rows_max) {
    const lathe_layout layout = {.size = sizeof layout,
                                 .parameter_count = (uint32_t)desk->parameters.count,
                                 .offset = desk->offsets,
                                 .trainable = desk->trainable,
                                 .rows_max = rows_max};
    check_doing(desk->bench->check, "bind for %lld rows", (long long)rows_max);
    lathe_status status = desk->ops->bind(desk->plugin.self, &layout);
    return bench_went_well(desk->bench, &desk->plugin, status, "bind");
}

bool desk_forward(struct desk *desk, uint32_t mode, int64_t first, int64_t rows) {
    lathe_session *s = desk->bench->session;
    for (uint32_t i = 0; i < desk->batch.field_count; i++)
        desk->part[i] = session_rows(&desk->tensors[i], first, rows);
    for (int64_t i = 0; i < desk->output_count; i++)
        desk->places[i] = (char *)desk->outputs[i] + first * desk->widths[i];
    memset(desk->metrics, 0, (size_t)desk->metric_count * 2 * sizeof(double));
    desk->part_batch = desk->batch;
    desk->part_batch.rows = rows;
    desk->part_batch.position = first;
    desk->part_batch.fields = desk->part;
    desk->pass = (lathe_pass){.size = sizeof desk->pass,
                              .mode = mode,
                              .batch = &desk->part_batch,
                              .weights = desk->weights,
                              .gradients = mode == LATHE_TRAIN ? desk->gradients : NULL,
                              .key = session_key(s, desk->bench->use, PURPOSE_MODEL, 1),
                              .metrics = desk->metrics,
                              .outputs = desk->places};
    check_doing(desk->bench->check, "forward of %lld rows%s", (long long)rows,
                mode == LATHE_PREDICT ? ", in LATHE_PREDICT, where labels are not there"
                                      : "");
    s->phase = PHASE_PASS;
    lathe_status status = desk->ops->forward(desk->plugin.self, &desk->pass);
    s->phase = PHASE_LOAD;
    return bench_went_well(desk->bench, &desk->plugin, status, "forward");
}

bool desk_backward(struct desk *desk, float *gradients, bool add) {
    lathe_session *s = desk->bench->session;
    desk->pass.gradients = gradients;
    desk->pass.add = add;
    check_doing(desk->bench->check, "backward of %lld rows",
                (long long)desk->part_batch.rows);
    s->phase = PHASE_PASS;
    lathe_status status = desk->ops->backward(desk->plugin.self, &desk->pass);
    s->phase = PHASE_LOAD;
    return bench_went_well(desk->bench, &desk->plugin, status, "backward");
}

double desk_loss(struct desk *desk, const float *weights) {
    float *own = desk->weights;
    desk->weights = (float *)weights;
    const bool is_done = desk_forward(desk, LATHE_TRAIN, 0, desk->rows);
    desk->weights = own;
    return is_done ? desk->pass.loss_sum : NAN;
}

/* ---- open and close ---- */

/* Options at their edges may ask for more than anybody has. */
static bool is_too_large(struct desk *desk) {
    const int64_t most = desk->bench->refusal ? FLOATS_AT_EDGES : FLOATS_MAX;
    if (desk->parameters.size <= most) return false;
    fail(&desk->refused, LATHE_ENOMEM, "%lld floats are too many to be checked",
         (long long)desk->parameters.size);
    if (desk->bench->refusal)
        *desk->bench->refusal = desk->refused;
    else
        check_skip(desk->bench->check, "%s", desk->refused.what);
    return true;
}

bool desk_open(struct desk *desk, struct bench *bench, struct error *err) {
    *desk = (struct desk){.bench = bench, .accuracy = -1};
    if (!bench_create(bench, &desk->plugin, err)) return false;
    desk->ops = desk->plugin.ops;
    if (!desk_describe(desk, &desk->parameters, err)) return false;
    if (parameters_lay_out(&desk->parameters, &desk->refused) != LATHE_OK)
        return check_fail(bench->check, "describe: %s", desk->refused.what);
    if (is_too_large(desk)) return false;
    return make_blocks(desk) && read_data(desk) && desk_bind(desk, desk->rows);
}

void desk_close(struct desk *desk) {
    for (uint32_t i = 0; desk->tensors && i < desk->batch.field_count; i++)
        free(desk->tensors[i].data);
    for (int64_t i = 0; i < desk->output_count; i++) free(desk->outputs[i]);
    block_destroy(desk->weights, desk->parameters.size);
    block_destroy(desk->gradients, desk->parameters.size);
    parameters_finish(&desk->parameters);
    free(desk->tensors);
    free(desk->part);
    free(desk->metrics);
    free(desk->offsets);
    free(desk->trainable);
    bench_destroy(desk->bench, &desk->plugin);
}

void desk_each(struct check *check, bool (*test)(struct desk *)) {
    for (int data = 0; data <= CHECK_DATA; data++) {
        const struct setup setup = {.data = data};
        struct bench bench;
        struct desk desk;
        if (!subject_is_suitable(check->subject, data)) continue;
        if (!bench_open(&bench, check, &setup, NULL)) return;
        bool is_well = desk_open(&desk, &bench, NULL) && test(&desk);
        desk_close(&desk);
        bench_close(&bench);
        if (!is_well) return;
    }
}
