/* SPDX-License-Identifier: MIT */
/* The data sets: opened, asked what a sample is made of; and the buffers that their
 * samples are read into. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "session_calls.h"

#define ALIGNMENT 64

/* ---- describe ---- */

struct describing {
    struct data_set *set;
    struct error *err;
};

static lathe_status take_field(const lathe_data_plan *plan, const lathe_field *field) {
    struct describing *at = plan->context;
    struct data_set *set = at->set;
    lathe_status status =
        session_check_field(set->fields, set->field_count, field, at->err);
    if (status != LATHE_OK) return status;
    lathe_field *fields = grow(set->fields, (size_t)set->field_count, sizeof *fields);
    if (fields) set->fields = fields;
    if (!fields || !session_copy_field(field, &fields[set->field_count]))
        return fail(at->err, LATHE_ENOMEM, "no memory for the fields of the data");
    set->field_count++;
    return LATHE_OK;
}

static void take_samples(const lathe_data_plan *plan, int64_t count) {
    struct describing *at = plan->context;
    at->set->samples = count;
}

static lathe_status describe(lathe_session *s, struct data_set *set) {
    const lathe_dataset_ops *ops = set->plugin.ops;
    struct error refused = {0};
    struct describing context = {.set = set, .err = &refused};
    const lathe_data_plan plan = {.size = sizeof plan,
                                  .context = &context,
                                  .field = take_field,
                                  .samples = take_samples};
    set->samples = -1;
    session_enter(s, 0, &set->plugin, FUNCTION_DESCRIBE);
    lathe_status status = ops->describe(set->plugin.self, &plan);
    session_leave(s, 0, &set->plugin, FUNCTION_DESCRIBE);
    if (status == LATHE_OK && refused.status != LATHE_OK) status = refused.status;
    if (status == LATHE_OK && set->plugin.misuse.status == LATHE_OK) {
        if (set->samples >= 0 && set->field_count) return LATHE_OK;
        status = fail(&refused, LATHE_EPLUGIN, "%s",
                      set->field_count ? "it does not say how many samples it has"
                                       : "it has no fields");
    }
    if (refused.status != LATHE_OK) {
        s->err = refused;
        error_where(&s->err, "%s in describe", set->plugin.label);
        return status;
    }
    return plugin_failure(&set->plugin, status, "describe", &s->err);
}

static void close_set(lathe_session *s, struct data_set *set) {
    session_finish_plugin(s, &set->plugin);
    for (int64_t i = 0; i < set->field_count; i++)
        session_finish_field(&set->fields[i]);
    free(set->fields);
    *set = (struct data_set){.is_used = false};
}

lathe_status session_open_data(lathe_session *s, enum split split,
                               const struct use *use, bool is_for_outputs) {
    struct data_set *set = &s->data[split];
    close_set(s, set);
    set->is_used = true;
    metrics_open_split(s->metrics, split);
    lathe_status status = session_open_plugin(s, use, use->path, &set->plugin);
    if (status == LATHE_OK) status = describe(s, set);
    if (status != LATHE_OK) return status;
    if (set->samples == 0)
        status = fail(&s->err, LATHE_EDATA, "the %s data has no samples",
                      use->path + strlen("data."));
    else if (split != SPLIT_TRAIN)
        status = session_check_same_fields(&s->data[SPLIT_TRAIN], set, is_for_outputs,
                                           &s->err);
    if (status != LATHE_OK) error_where(&s->err, "%s", set->plugin.label);
    return status;
}

lathe_status session_compose_data(lathe_session *s) {
    for (int split = 0; split < SPLIT_COUNT; split++) {
        const struct use *use = experiment_data(s->experiment, split_names[split]);
        if (!use) continue;
        lathe_status status = session_open_data(s, (enum split)split, use, false);
        if (status != LATHE_OK) return status;
    }
    return LATHE_OK;
}

void session_decompose_data(lathe_session *s) {
    for (int split = SPLIT_COUNT - 1; split >= 0; split--)
        close_set(s, &s->data[split]);
}

/* ---- buffers ---- */

static lathe_status make_tensor(lathe_session *s, const lathe_field *field,
                                int64_t rows, lathe_tensor *tensor) {
    int64_t bytes = field->bits / 8;
    bool is_too_big = __builtin_mul_overflow(bytes, rows, &bytes);
    *tensor = (lathe_tensor){
        .code = field->code, .bits = field->bits, .lanes = 1, .rank = field->rank + 1};
    tensor->shape[0] = rows;
    for (uint32_t i = 0; i < field->rank; i++) {
        tensor->shape[i + 1] = field->shape[i];
        is_too_big =
            is_too_big || __builtin_mul_overflow(bytes, field->shape[i], &bytes);
    }
    if (!is_too_big && bytes < INT64_MAX - ALIGNMENT)
        tensor->data = aligned_alloc(ALIGNMENT, (size_t)(bytes + ALIGNMENT - 1) /
                                                    ALIGNMENT * ALIGNMENT);
    if (tensor->data) return LATHE_OK;
    return fail(&s->err, LATHE_ENOMEM, "no memory for %lld rows of \"%s\"",
                (long long)rows, field->name);
}

static int64_t most_rows(const lathe_session *s) {
    int64_t rows = 1;
    for (int split = 0; split < SPLIT_COUNT; split++)
        if (s->data[split].is_used && s->data[split].samples > rows)
            rows = s->data[split].samples;
    return rows < s->experiment->train.batch ? rows : s->experiment->train.batch;
}

static lathe_status make_shard_buffers(lathe_session *s, struct shard *shard) {
    const int64_t fields = s->data[SPLIT_TRAIN].field_count;
    shard->tensors = calloc((size_t)fields, sizeof *shard->tensors);
    shard->metrics =
        calloc((size_t)s->model_metric_count * 2 + 1, sizeof *shard->metrics);
    shard->outputs = calloc((size_t)s->output_count + 1, sizeof *shard->outputs);
    if (!shard->tensors || !shard->metrics || !shard->outputs)
        return fail(&s->err, LATHE_ENOMEM, "no memory for a shard");
    memcpy(shard->tensors, s->tensors, (size_t)fields * sizeof *shard->tensors);
    shard->batch = (lathe_batch){.size = sizeof shard->batch,
                                 .field_count = (uint32_t)fields,
                                 .fields = shard->tensors};
    return LATHE_OK;
}

lathe_status session_make_batch(lathe_session *s, lathe_tensor **tensors,
                                int64_t **indices) {
    const struct data_set *train = &s->data[SPLIT_TRAIN];
    const int64_t rows = most_rows(s);
    *tensors = calloc((size_t)train->field_count, sizeof **tensors);
    *indices = calloc((size_t)rows, sizeof **indices);
    if (!*tensors || !*indices)
        return fail(&s->err, LATHE_ENOMEM, "no memory for %lld rows", (long long)rows);
    lathe_status status = LATHE_OK;
    for (int64_t i = 0; status == LATHE_OK && i < train->field_count; i++)
        status = make_tensor(s, &train->fields[i], rows, &(*tensors)[i]);
    return status;
}

void session_free_batch(const lathe_session *s, lathe_tensor *tensors,
                        int64_t *indices) {
    for (int64_t i = 0; tensors && i < s->data[SPLIT_TRAIN].field_count; i++)
        free(tensors[i].data);
    free(tensors);
    free(indices);
}

lathe_status session_make_buffers(lathe_session *s) {
    const struct data_set *train = &s->data[SPLIT_TRAIN];
    const int64_t rows = most_rows(s);
    lathe_status status = session_make_batch(s, &s->tensors, &s->indices);
    if (status != LATHE_OK) return status;
    s->output_tensors = calloc((size_t)s->output_count + 1, sizeof *s->output_tensors);
    if (!s->output_tensors)
        return fail(&s->err, LATHE_ENOMEM, "no memory for %lld rows", (long long)rows);
    for (int64_t i = 0; status == LATHE_OK && s->wants_outputs && i < s->output_count;
         i++)
        status = make_tensor(s, &s->outputs[i], rows, &s->output_tensors[i]);
    for (int64_t i = 0; status == LATHE_OK && i < s->shard_count; i++)
        status = make_shard_buffers(s, &s->shards[i]);
    s->batch = (lathe_batch){.size = sizeof s->batch,
                             .field_count = (uint32_t)train->field_count,
                             .fields = s->tensors};
    return status;
}

void session_free_buffers(lathe_session *s) {
    session_free_batch(s, s->tensors, s->indices);
    for (int64_t i = 0; s->output_tensors && i < s->output_count; i++)
        free(s->output_tensors[i].data);
    for (int64_t i = 0; s->shards && i < s->shard_count; i++) {
        free(s->shards[i].tensors);
        free(s->shards[i].metrics);
        free(s->shards[i].outputs);
    }
    free(s->output_tensors);
    s->tensors = s->output_tensors = NULL;
    s->indices = NULL;
}
