/* SPDX-License-Identifier: MIT */
#include "check/model_fixture.h"

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
    struct model_fixture *model;
    struct parameters *parameters;
    int64_t metrics, outputs;
};

static lathe_status take_parameter(const lathe_model_plan *plan,
                                   const lathe_parameter *p, int32_t *index) {
    struct describing *at = plan->context;
    return parameters_declare(at->parameters, p, index, &at->model->refused);
}

static lathe_status take_metric(const lathe_model_plan *plan,
                                const lathe_metric *metric, int32_t *index) {
    struct describing *at = plan->context;
    if (!manifest_declares_metric(at->model->fixture->use->manifest, metric->name))
        return fail(&at->model->refused, LATHE_EPLUGIN,
                    "its manifest does not list the metric \"%s\"",
                    metric->name ? metric->name : "");
    if (!strcmp(metric->name, "accuracy")) at->model->accuracy = at->metrics;
    *index = (int32_t)at->metrics++;
    return LATHE_OK;
}

static lathe_status take_output(const lathe_model_plan *plan, const lathe_field *field,
                                int32_t *index) {
    struct describing *at = plan->context;
    lathe_status status = session_check_field(NULL, 0, field, &at->model->refused);
    if (status != LATHE_OK) return status;
    if (at->outputs == MODEL_OUTPUTS)
        return fail(&at->model->refused, LATHE_EINVAL, "more than %d outputs",
                    MODEL_OUTPUTS);
    int64_t width = field->bits / 8;
    for (uint32_t i = 0; i < field->rank; i++) width *= field->shape[i];
    at->model->widths[at->outputs] = width;
    *index = (int32_t)at->outputs++;
    return LATHE_OK;
}

static void take_least_rows(const lathe_model_plan *plan, int64_t rows) {
    ((struct describing *)plan->context)->model->least_rows = rows;
}

bool model_fixture_describe(struct model_fixture *model, struct parameters *parameters,
                            struct error *err) {
    const struct data_set *data = &model->fixture->session->data[SPLIT_TRAIN];
    const lathe_field *fields[FIELDS_MAX];
    struct describing at = {.model = model, .parameters = parameters};
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
    model->least_rows = 1;
    check_doing(model->fixture->check, "describe");
    lathe_status status = model->ops->describe(model->plugin.self, &plan);
    model->metric_count = at.metrics;
    model->output_count = at.outputs;
    if (model->refused.status != LATHE_OK)
        return check_fail(model->fixture->check, "describe: %s", model->refused.what);
    if (status == LATHE_OK && model->plugin.misuse.status == LATHE_OK) return true;
    if (err)
        plugin_failure(&model->plugin, status, "describe", err);
    else
        fixture_went_well(model->fixture, &model->plugin, status, "describe");
    return false;
}

/* ---- blocks and data ---- */

bool model_fixture_is_trained(const struct model_fixture *model, int64_t i) {
    return !(model->parameters.items[i].flags & LATHE_BUFFER) && model->trainable[i];
}

bool model_fixture_is_label(const struct model_fixture *model, uint32_t field) {
    const char *name = model->fixture->session->data[SPLIT_TRAIN].fields[field].name;
    return !strcmp(name, "label");
}

float *model_fixture_block(const struct model_fixture *model) {
    float *block = block_create(model->parameters.size);
    for (int64_t i = 0; block && i < model->parameters.size; i++) block[i] = NAN;
    return block;
}

void model_fixture_spread(struct model_fixture *model, int variation) {
    const struct fixture *fixture = model->fixture;
    const uint32_t purpose = PURPOSE_WEIGHTS + (uint32_t)variation;
    parameters_initialise(&model->parameters,
                          session_key(fixture->session, fixture->use, PURPOSE_INIT, 0),
                          model->weights);
    for (int64_t i = 0; i < model->parameters.count; i++) {
        const struct parameter *p = &model->parameters.items[i];
        if (p->flags & LATHE_BUFFER) continue;
        for (int64_t j = 0; j < p->count; j++)
            model->weights[p->offset + j] +=
                (float)(SPREAD * check_normal(fixture->check, purpose,
                                              (uint64_t)(p->offset + j)));
    }
}

static bool make_blocks(struct model_fixture *model) {
    const size_t count = (size_t)model->parameters.count + 1;
    model->offsets = calloc(count, sizeof *model->offsets);
    model->trainable = calloc(count, sizeof *model->trainable);
    model->weights = block_create(model->parameters.size);
    model->gradients = block_create(model->parameters.size);
    model->metrics = calloc((size_t)model->metric_count * 2 + 1, sizeof(double));
    if (!model->offsets || !model->trainable || !model->weights || !model->gradients ||
        !model->metrics)
        return check_fail(model->fixture->check, "no memory for the model's blocks");
    for (int64_t i = 0; i < model->parameters.count; i++) {
        model->offsets[i] = model->parameters.items[i].offset;
        model->trainable[i] = 1;
    }
    model_fixture_spread(model, model->fixture->variation);
    return true;
}

static bool read_data(struct model_fixture *model) {
    struct fixture *fixture = model->fixture;
    struct data_set *data = &fixture->session->data[SPLIT_TRAIN];
    const lathe_dataset_ops *ops = data->plugin.ops;
    int64_t indices[MODEL_ROWS];
    model->rows = data->samples < MODEL_ROWS ? data->samples : MODEL_ROWS;
    model->tensors = calloc((size_t)data->field_count + 1, sizeof *model->tensors);
    model->part = calloc((size_t)data->field_count + 1, sizeof *model->part);
    if (!model->tensors || !model->part)
        return check_fail(fixture->check, "out of memory");
    for (int64_t i = 0; i < data->field_count; i++) {
        size_t bytes;
        model->tensors[i] = fixture_tensor(&data->fields[i], model->rows, 0, &bytes);
        if (!model->tensors[i].data) return check_fail(fixture->check, "out of memory");
    }
    for (int64_t i = 0; i < model->rows; i++)
        indices[i] = (i + fixture->variation) % data->samples;
    model->batch = (lathe_batch){.size = sizeof model->batch,
                                 .field_count = (uint32_t)data->field_count,
                                 .rows = model->rows,
                                 .epoch = 1,
                                 .fields = model->tensors};
    for (int64_t i = 0; i < model->output_count; i++) {
        model->outputs[i] = calloc((size_t)model->rows, (size_t)model->widths[i]);
        if (!model->outputs[i]) return check_fail(fixture->check, "out of memory");
    }
    lathe_status status = ops->read(data->plugin.self, indices, &model->batch);
    return fixture_went_well(fixture, &data->plugin, status, "the data's read");
}

/* ---- passes ---- */

bool model_fixture_bind(struct model_fixture *model, int64_t rows_max) {
    const lathe_layout layout = {.size = sizeof layout,
                                 .parameter_count = (uint32_t)model->parameters.count,
                                 .offset = model->offsets,
                                 .trainable = model->trainable,
                                 .rows_max = rows_max};
    check_doing(model->fixture->check, "bind for %lld rows", (long long)rows_max);
    lathe_status status = model->ops->bind(model->plugin.self, &layout);
    return fixture_went_well(model->fixture, &model->plugin, status, "bind");
}

bool model_fixture_forward(struct model_fixture *model, uint32_t mode, int64_t first,
                           int64_t rows) {
    lathe_session *s = model->fixture->session;
    for (uint32_t i = 0; i < model->batch.field_count; i++)
        model->part[i] = session_rows(&model->tensors[i], first, rows);
    for (int64_t i = 0; i < model->output_count; i++)
        model->places[i] = (char *)model->outputs[i] + first * model->widths[i];
    memset(model->metrics, 0, (size_t)model->metric_count * 2 * sizeof(double));
    model->part_batch = model->batch;
    model->part_batch.rows = rows;
    model->part_batch.position = first;
    model->part_batch.fields = model->part;
    model->pass =
        (lathe_pass){.size = sizeof model->pass,
                     .mode = mode,
                     .batch = &model->part_batch,
                     .weights = model->weights,
                     .gradients = mode == LATHE_TRAIN ? model->gradients : NULL,
                     .key = session_key(s, model->fixture->use, PURPOSE_MODEL, 1),
                     .metrics = model->metrics,
                     .outputs = model->places};
    check_doing(model->fixture->check, "forward of %lld rows%s", (long long)rows,
                mode == LATHE_PREDICT ? ", in LATHE_PREDICT, where labels are not there"
                                      : "");
    s->phase = PHASE_PASS;
    lathe_status status = model->ops->forward(model->plugin.self, &model->pass);
    s->phase = PHASE_LOAD;
    return fixture_went_well(model->fixture, &model->plugin, status, "forward");
}

bool model_fixture_backward(struct model_fixture *model, float *gradients, bool add) {
    lathe_session *s = model->fixture->session;
    model->pass.gradients = gradients;
    model->pass.add = add;
    check_doing(model->fixture->check, "backward of %lld rows",
                (long long)model->part_batch.rows);
    s->phase = PHASE_PASS;
    lathe_status status = model->ops->backward(model->plugin.self, &model->pass);
    s->phase = PHASE_LOAD;
    return fixture_went_well(model->fixture, &model->plugin, status, "backward");
}

double model_fixture_loss(struct model_fixture *model, const float *weights) {
    float *own = model->weights;
    model->weights = (float *)weights;
    const bool is_done = model_fixture_forward(model, LATHE_TRAIN, 0, model->rows);
    model->weights = own;
    return is_done ? model->pass.loss_sum : NAN;
}

/* ---- open and close ---- */

/* Options at their edges may ask for more than anybody has. */
static bool is_too_large(struct model_fixture *model) {
    const int64_t most = model->fixture->refusal ? FLOATS_AT_EDGES : FLOATS_MAX;
    if (model->parameters.size <= most) return false;
    fail(&model->refused, LATHE_ENOMEM, "%lld floats are too many to be checked",
         (long long)model->parameters.size);
    if (model->fixture->refusal)
        *model->fixture->refusal = model->refused;
    else
        check_skip(model->fixture->check, "%s", model->refused.what);
    return true;
}

bool model_fixture_open(struct model_fixture *model, struct fixture *fixture,
                        struct error *err) {
    *model = (struct model_fixture){.fixture = fixture, .accuracy = -1};
    if (!fixture_create(fixture, &model->plugin, err)) return false;
    model->ops = model->plugin.ops;
    if (!model_fixture_describe(model, &model->parameters, err)) return false;
    if (parameters_lay_out(&model->parameters, &model->refused) != LATHE_OK)
        return check_fail(fixture->check, "describe: %s", model->refused.what);
    if (is_too_large(model)) return false;
    return make_blocks(model) && read_data(model) &&
           model_fixture_bind(model, model->rows);
}

void model_fixture_close(struct model_fixture *model) {
    for (uint32_t i = 0; model->tensors && i < model->batch.field_count; i++)
        free(model->tensors[i].data);
    for (int64_t i = 0; i < model->output_count; i++) free(model->outputs[i]);
    block_destroy(model->weights, model->parameters.size);
    block_destroy(model->gradients, model->parameters.size);
    parameters_finish(&model->parameters);
    free(model->tensors);
    free(model->part);
    free(model->metrics);
    free(model->offsets);
    free(model->trainable);
    fixture_destroy(model->fixture, &model->plugin);
}

void model_fixture_each(struct check *check, bool (*test)(struct model_fixture *)) {
    for (int data = 0; data <= CHECK_DATA; data++) {
        const struct setup setup = {.data = data};
        struct fixture fixture;
        struct model_fixture model;
        if (!subject_is_suitable(check->subject, data)) continue;
        if (!fixture_open(&fixture, check, &setup, NULL)) return;
        bool is_well = model_fixture_open(&model, &fixture, NULL) && test(&model);
        model_fixture_close(&model);
        fixture_close(&fixture);
        if (!is_well) return;
    }
}
