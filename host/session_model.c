/* SPDX-License-Identifier: MIT */
/* The model: one instance per shard, asked what it wants, and given its place in the
 * blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/grow.h"
#include "passes.h"
#include "session_calls.h"

struct describing {
    lathe_session *s;
    struct parameters parameters; /* what this instance said */
    bool is_first;
    int64_t metric_count, output_count, least_rows;
    struct error err;
};

static lathe_status take_parameter(const lathe_model_plan *plan,
                                   const lathe_parameter *p, int32_t *index) {
    struct describing *at = plan->context;
    return parameters_declare(&at->parameters, p, index, &at->err);
}

static lathe_status take_metric(const lathe_model_plan *plan,
                                const lathe_metric *metric, int32_t *index) {
    struct describing *at = plan->context;
    lathe_session *s = at->s;
    if (metric->size < LATHE_METRIC_SIZE_1_0 || !metric->name)
        return fail(&at->err, LATHE_EPLUGIN, "a metric has no name");
    if (!manifest_declares_metric(s->experiment->model.manifest, metric->name))
        return fail(&at->err, LATHE_EPLUGIN,
                    "its manifest does not list the metric \"%s\"", metric->name);
    *index = (int32_t)at->metric_count++;
    if (!at->is_first) {
        bool is_same =
            *index < s->model_metric_count &&
            !strcmp(metric->name, metrics_name(s->metrics, s->model_metrics[*index]));
        if (is_same) return LATHE_OK;
        return fail(&at->err, LATHE_EPLUGIN,
                    "describe declared metric \"%s\" on one instance only",
                    metric->name);
    }
    int32_t *indices =
        grow(s->model_metrics, (size_t)s->model_metric_count, sizeof *indices);
    if (!indices) return fail(&at->err, LATHE_ENOMEM, "no memory for metrics");
    s->model_metrics = indices;
    int32_t global = metrics_declare(s->metrics, metric->name, metric->flags, &at->err);
    if (global < 0) return at->err.status;
    indices[s->model_metric_count++] = global;
    return LATHE_OK;
}

static lathe_status take_output(const lathe_model_plan *plan, const lathe_field *field,
                                int32_t *index) {
    struct describing *at = plan->context;
    lathe_session *s = at->s;
    const int64_t i = at->output_count++;
    lathe_status status =
        session_check_field(s->outputs, at->is_first ? i : 0, field, &at->err);
    if (status != LATHE_OK) return status;
    *index = (int32_t)i;
    if (!at->is_first) {
        if (i < s->output_count && session_is_same_field(field, &s->outputs[i]))
            return LATHE_OK;
        return fail(&at->err, LATHE_EPLUGIN,
                    "describe declared output \"%s\" differently on two instances",
                    field->name);
    }
    lathe_field *outputs = grow(s->outputs, (size_t)s->output_count, sizeof *outputs);
    if (outputs) s->outputs = outputs;
    if (!outputs || !session_copy_field(field, &outputs[s->output_count]))
        return fail(&at->err, LATHE_ENOMEM, "no memory for outputs");
    s->output_count++;
    return LATHE_OK;
}

static void take_least_rows(const lathe_model_plan *plan, int64_t rows) {
    struct describing *at = plan->context;
    const int64_t batch = at->s->experiment->train.batch;
    at->least_rows = rows;
    if (rows < 1 || rows > batch)
        fail(&at->err, LATHE_EINVAL,
             "its slices need %lld rows, and train.batch is %lld", (long long)rows,
             (long long)batch);
}

static lathe_status ask(struct describing *at, struct plugin *model) {
    const struct data_set *train = &at->s->data[SPLIT_TRAIN];
    const lathe_field *fields[64];
    if (train->field_count > 64)
        return fail(&at->err, LATHE_EINVAL, "the data has more than 64 fields");
    for (int64_t i = 0; i < train->field_count; i++) fields[i] = &train->fields[i];
    const lathe_model_plan plan = {.size = sizeof plan,
                                   .field_count = (uint32_t)train->field_count,
                                   .context = at,
                                   .fields = fields,
                                   .parameter = take_parameter,
                                   .metric = take_metric,
                                   .output = take_output,
                                   .least_rows = take_least_rows};
    const lathe_model_ops *ops = model->ops;
    session_enter(at->s, 0, model, FUNCTION_DESCRIBE);
    lathe_status status = ops->describe(model->self, &plan);
    session_leave(at->s, 0, model, FUNCTION_DESCRIBE);
    if (status == LATHE_OK && at->err.status != LATHE_OK) status = at->err.status;
    if (at->err.status != LATHE_OK) {
        error_where(&at->err, "%s in describe", model->label);
        return status;
    }
    if (status != LATHE_OK || model->misuse.status != LATHE_OK)
        return plugin_failure(model, status, "describe", &at->err);
    return LATHE_OK;
}

static lathe_status describe(lathe_session *s, int64_t index) {
    struct plugin *model = &s->shards[index].model;
    struct describing at = {.s = s, .is_first = index == 0, .least_rows = 1};
    lathe_status status = ask(&at, model);
    if (status == LATHE_OK && index == 0) {
        s->parameters = at.parameters;
        s->least_rows = at.least_rows;
        return LATHE_OK;
    }
    if (status == LATHE_OK) {
        status = parameters_compare(&s->parameters, &at.parameters, &at.err);
        if (status != LATHE_OK) error_where(&at.err, "%s", model->label);
    }
    parameters_finish(&at.parameters);
    if (status != LATHE_OK) s->err = at.err;
    return status;
}

static lathe_status bind(lathe_session *s, struct shard *shard, const int64_t *offsets,
                         const uint8_t *trainable) {
    const int64_t batch = s->experiment->train.batch, shards = s->shard_count;
    int64_t rows = batch / shards + (batch % shards != 0);
    if (s->least_rows > 1 && rows / 2 < s->least_rows)
        rows = s->least_rows > batch / 2 ? batch : 2 * s->least_rows;
    const lathe_layout layout = {.size = sizeof layout,
                                 .parameter_count = (uint32_t)s->parameters.count,
                                 .offset = offsets,
                                 .trainable = trainable,
                                 .rows_max = rows < batch ? rows : batch};
    const lathe_model_ops *ops = shard->model.ops;
    session_enter(s, 0, &shard->model, FUNCTION_BIND);
    lathe_status status = ops->bind(shard->model.self, &layout);
    session_leave(s, 0, &shard->model, FUNCTION_BIND);
    if (status == LATHE_OK && shard->model.misuse.status == LATHE_OK) return LATHE_OK;
    return plugin_failure(&shard->model, status, "bind", &s->err);
}

static lathe_status bind_all(lathe_session *s) {
    const int64_t count = s->parameters.count;
    int64_t *offsets = calloc((size_t)count + 1, sizeof *offsets);
    uint8_t *trainable = calloc((size_t)count + 1, sizeof *trainable);
    lathe_status status = LATHE_OK;
    if (!offsets || !trainable)
        status = fail(&s->err, LATHE_ENOMEM, "no memory to bind");
    for (int64_t i = 0; status == LATHE_OK && i < count; i++) {
        offsets[i] = s->parameters.items[i].offset;
        trainable[i] = !(s->parameters.items[i].flags & LATHE_FROZEN);
    }
    for (int64_t i = 0; status == LATHE_OK && i < s->shard_count; i++)
        status = bind(s, &s->shards[i], offsets, trainable);
    free(offsets);
    free(trainable);
    return status;
}

/* Bytes of address space that are left under RLIMIT_AS; INT64_MAX without a limit. */
static int64_t bytes_left(void) {
    struct rlimit limit;
    char text[64] = "";
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return INT64_MAX;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && !fgets(text, sizeof text, file)) text[0] = 0;
    if (file) fclose(file);
    const int64_t pages = strtoll(text, NULL, 10);
    return (int64_t)limit.rlim_cur - pages * sysconf(_SC_PAGESIZE);
}

#define BLAS_BYTES ((int64_t)160 << 20) /* what OpenBLAS maps for each thread */

/* Told here, because a BLAS that is refused its buffer tries again for ever. */
static lathe_status check_memory(lathe_session *s) {
    const int64_t blocks = s->parameters.size * 4 * (s->shard_count + 1);
    char blas[64];
    library_blas_name(s->shards[0].model.library, blas, sizeof blas);
    const int64_t wanted =
        blocks + (blas[0] ? BLAS_BYTES : 0) * workers_count(s->workers);
    const int64_t left = bytes_left();
    if (wanted <= left) return LATHE_OK;
    fail(&s->err, LATHE_ENOMEM,
         "%lld bytes are needed (%lld for weights and gradients of %lld shards, the "
         "rest for BLAS), and the limit leaves %lld",
         (long long)wanted, (long long)blocks, (long long)s->shard_count,
         (long long)left);
    error_help(&s->err, "raise the limit on address space (ulimit -v), or use fewer "
                        "threads (train.threads) and shards (train.shards)");
    return LATHE_ENOMEM;
}

static lathe_status make_blocks(lathe_session *s) {
    const int64_t size = s->parameters.size;
    s->weights = block_create(size);
    s->squares = calloc((size_t)passes_chunks(size) + 1, sizeof *s->squares);
    s->shard_blocks = calloc((size_t)s->shard_count, sizeof *s->shard_blocks);
    bool is_whole = s->weights && s->squares && s->shard_blocks;
    for (int64_t i = 0; is_whole && i < s->shard_count; i++) {
        s->shards[i].gradients = block_create(size);
        is_whole = s->shards[i].gradients != NULL;
    }
    if (is_whole) return LATHE_OK;
    fail(&s->err, LATHE_ENOMEM,
         "no memory for %lld blocks of %lld bytes: weights, and gradients of %lld "
         "shards",
         (long long)s->shard_count + 1, (long long)size * 4, (long long)s->shard_count);
    error_help(&s->err, "fewer shards (train.shards) or a smaller model need less");
    return LATHE_ENOMEM;
}

static lathe_status open_instances(lathe_session *s) {
    lathe_status status = LATHE_OK;
    for (int64_t i = 0; status == LATHE_OK && i < s->shard_count; i++) {
        status =
            session_open_plugin(s, &s->experiment->model, "model", &s->shards[i].model);
        if (status == LATHE_OK) status = describe(s, i);
    }
    return status;
}

/* Parameters are put into the optimizer's groups by their names. */
static lathe_status group(lathe_session *s) {
    const struct experiment *e = s->experiment;
    const char *patterns[PARAMETER_GROUPS_MAX];
    int32_t bad = 0;
    for (size_t i = 0; i < e->group_count; i++) patterns[i] = e->groups[i].match;
    lathe_status status = parameters_group(&s->parameters, patterns,
                                           (int32_t)e->group_count, &bad, &s->err);
    if (status == LATHE_OK) return status;
    char path[64];
    snprintf(path, sizeof path, "optimizer.groups.%d.match", bad);
    experiment_where(e, path, &s->err);
    return status;
}

static lathe_status freeze(lathe_session *s) {
    const struct experiment *e = s->experiment;
    if (!strcmp(e->train.only, "*")) return LATHE_OK;
    lathe_status status = parameters_freeze(&s->parameters, e->train.only, &s->err);
    if (status != LATHE_OK) experiment_where(e, "train.only", &s->err);
    return status;
}

lathe_status session_compose_model(lathe_session *s) {
    s->shard_count = s->experiment->train.shards;
    s->shards = calloc((size_t)s->shard_count, sizeof *s->shards);
    if (!s->shards) return fail(&s->err, LATHE_ENOMEM, "no memory for shards");
    lathe_status status = open_instances(s);
    if (status == LATHE_OK) status = freeze(s);
    if (status == LATHE_OK) status = group(s);
    if (status == LATHE_OK) status = parameters_lay_out(&s->parameters, &s->err);
    if (status == LATHE_OK) status = check_memory(s);
    if (status == LATHE_OK) status = make_blocks(s);
    if (status == LATHE_OK) status = bind_all(s);
    if (status == LATHE_OK)
        parameters_initialise(&s->parameters,
                              session_key(s, &s->experiment->model, PURPOSE_INIT, 0),
                              s->weights);
    return status == LATHE_OK ? session_start(s) : status;
}

void session_decompose_model(lathe_session *s) {
    for (int64_t i = s->shard_count - 1; s->shards && i >= 0; i--) {
        block_destroy(s->shards[i].gradients, s->parameters.size);
        session_finish_plugin(s, &s->shards[i].model);
    }
    for (int64_t i = 0; i < s->output_count; i++) session_finish_field(&s->outputs[i]);
    block_destroy(s->weights, s->parameters.size);
    parameters_finish(&s->parameters);
    free(s->outputs);
    free(s->model_metrics);
    free(s->squares);
    free(s->shard_blocks);
    free(s->shards);
    s->parameters = (struct parameters){0};
    s->weights = NULL;
    s->outputs = NULL;
    s->model_metrics = NULL;
    s->squares = NULL;
    s->shard_blocks = NULL;
    s->shards = NULL;
    s->output_count = s->model_metric_count = s->shard_count = 0;
}
