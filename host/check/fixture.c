/* SPDX-License-Identifier: MIT */
#include "check/fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "check/stand_ins.h"
#include "session_calls.h"

#define LIBRARIES_MAX 64
#define BLOCK_SIZE 64 /* floats of weights, for plugins that want a block of theirs */
#define WRITTEN_MAX 2048

static void take_log(void *context, int32_t level, const char *text) {
    struct fixture *fixture = context;
    if (level == LATHE_LOG_WARNING &&
        (strstr(text, "it was put back") || strstr(text, "threads of its own")))
        text_format(&fixture->complaints, "%s\n", text);
}

/* The use that names the subject. */
static const struct use *find_use(const struct fixture *fixture) {
    const struct experiment *e = fixture->session->experiment;
    switch (fixture->check->subject->manifest->kind) {
    case LATHE_KIND_DATASET:
        return &e->data[0].use;
    case LATHE_KIND_MODEL:
        return &e->model;
    case LATHE_KIND_OPTIMIZER:
        return &e->optimizer;
    case LATHE_KIND_SCHEDULE:
        return &e->schedule;
    case LATHE_KIND_CALLBACK:
        return &e->callbacks[0];
    default:
        return NULL;
    }
}

static lathe_status open_experiment(struct fixture *fixture,
                                    const struct setup *setup) {
    lathe_session *s = fixture->session;
    struct errors errors = {0};
    char *text = subject_experiment(fixture->check->subject, setup);
    if (!text) return fail(&s->err, LATHE_ENOMEM, "out of memory");
    lathe_status status =
        experiment_open(text, NULL, s->registry, &s->experiments, &errors);
    if (status != LATHE_OK && errors.count) s->err = errors.items[0];
    errors_finish(&errors);
    free(text);
    s->experiment = s->experiments;
    return status;
}

/* What callbacks and the like find when they are made. */
static lathe_status make_surroundings(lathe_session *s) {
    const struct train_settings *train = &s->experiment->train;
    for (int split = 0; split < SPLIT_COUNT; split++)
        metrics_open_split(s->metrics, (enum split)split);
    sampler_init(&s->sampler, s->data[SPLIT_TRAIN].samples, train->batch,
                 train->accumulate);
    session_set_horizon(s);
    s->parameters.size = BLOCK_SIZE;
    s->weights = block_create(BLOCK_SIZE);
    return s->weights ? LATHE_OK : fail(&s->err, LATHE_ENOMEM, "out of memory");
}

static lathe_status open_all(struct fixture *fixture, const struct setup *setup) {
    lathe_session *s = fixture->session;
    lathe_status status = session_begin_calls(s);
    if (status == LATHE_OK)
        status = registry_open(fixture->check->subject->plugin_paths, stand_ins(),
                               &s->registry, &s->err);
    if (status == LATHE_OK) status = open_experiment(fixture, setup);
    if (status == LATHE_OK) status = files_create(&s->files, &s->err);
    if (status == LATHE_OK) status = session_open_workers(s);
    if (status == LATHE_OK) status = metrics_create(&s->metrics, &s->err);
    if (status == LATHE_OK &&
        fixture->check->subject->manifest->kind != LATHE_KIND_MODEL &&
        metrics_declare(s->metrics, "accuracy", LATHE_HIGHER_IS_BETTER, &s->err) < 0)
        status = s->err.status;
    s->libraries = calloc(LIBRARIES_MAX, sizeof *s->libraries);
    if (status == LATHE_OK && !s->libraries)
        status = fail(&s->err, LATHE_ENOMEM, "out of memory");
    if (status == LATHE_OK)
        status = session_open_data(s, SPLIT_TRAIN, &s->experiment->data[0].use, false);
    return status == LATHE_OK ? make_surroundings(s) : status;
}

bool fixture_open(struct fixture *fixture, struct check *check,
                  const struct setup *setup, struct error *err) {
    const struct setup plain = {.data = subject_first_data(check->subject)};
    struct setup seeded = setup ? *setup : plain;
    const uint32_t kind = check->subject->manifest->kind;
    if (!seeded.seed) seeded.seed = check->seed;
    seeded.has_visits = kind == LATHE_KIND_SCHEDULE || kind == LATHE_KIND_CALLBACK;
    *fixture = (struct fixture){.check = check};
    lathe_session *s = fixture->session = calloc(1, sizeof *s);
    if (!s) return check_fail(check, "out of memory");
    workers_adopt();
    s->log = (struct log){.write = take_log, .context = fixture};
    s->loading = (struct loading){.log = &s->log};
    s->now = (lathe_moment){
        .size = sizeof s->now, .stage = 1, .split = split_names[SPLIT_TRAIN]};
    s->point = POINT_NONE;
    s->place = PLACE_OPEN;
    services_fill(&s->services);
    fixture_watch_options(fixture);
    if (kind == LATHE_KIND_DATASET) check_doing(check, "create or describe");
    lathe_status status = open_all(fixture, &seeded);
    fixture->use = status == LATHE_OK ? find_use(fixture) : NULL;
    if (status == LATHE_OK) return true;
    if (err)
        *err = s->err;
    else
        check_fail(check, "%s (%s)", s->err.what, s->err.where);
    fixture_close(fixture);
    return false;
}

void fixture_close(struct fixture *fixture) {
    if (!fixture->session) return;
    if (fixture->check->subject->manifest->kind == LATHE_KIND_DATASET)
        check_doing(fixture->check, "destroy");
    lathe_close(fixture->session);
    fixture->session = NULL;
    text_finish(&fixture->complaints);
}

/* In a run, each metric has one who reports it; here instances share it. */
static int32_t share_metric(const lathe_host *host, const lathe_metric *metric) {
    const struct plugin *plugin = host->context;
    const lathe_session *s = plugin->session;
    for (int64_t i = 0; metric->name && i < metrics_count(s->metrics); i++)
        if (!strcmp(metrics_name(s->metrics, i), metric->name)) return (int32_t)i;
    lathe_host own;
    services_fill(&own);
    return own.metric(host, metric);
}

bool fixture_create(struct fixture *fixture, struct plugin *plugin, struct error *err) {
    lathe_session *s = fixture->session;
    *plugin = (struct plugin){.use = NULL};
    s->phase = PHASE_LOAD;
    s->services.metric = share_metric;
    check_doing(fixture->check, "create");
    const lathe_status status = session_open_plugin(s, fixture->use, "it", plugin);
    if (status == LATHE_OK) library_quiet_blas(plugin->library);
    if (status == LATHE_OK) return true;
    if (err)
        *err = s->err;
    else
        check_fail(fixture->check, "create failed: %s", s->err.what);
    return false;
}

void fixture_destroy(struct fixture *fixture, struct plugin *plugin) {
    check_doing(fixture->check, "destroy");
    session_finish_plugin(fixture->session, plugin);
    plugin->use = NULL;
    session_free_services(fixture->session); /* thousands may be made */
}

bool fixture_is_refusal(const struct error *err) {
    return !strstr(err->what, "without saying why") && err->status != LATHE_EPLUGIN;
}

bool fixture_went_well(struct fixture *fixture, struct plugin *plugin,
                       lathe_status status, const char *function) {
    struct error err = {0};
    if (status == LATHE_OK && plugin->misuse.status == LATHE_OK) return true;
    plugin_failure(plugin, status, function, &err);
    if (fixture->refusal && fixture_is_refusal(&err)) {
        *fixture->refusal = err;
        return false;
    }
    return check_fail(fixture->check, "%s: %s", function, err.what);
}

void fixture_pause(struct fixture *fixture) {
    void (*meanwhile)(struct fixture *) = fixture->meanwhile;
    if (!meanwhile) return;
    fixture->meanwhile = NULL; /* not in the middle of itself */
    meanwhile(fixture);
    fixture->meanwhile = meanwhile;
}

size_t fixture_bytes(const lathe_field *field, int64_t rows) {
    size_t bytes = (size_t)rows * field->bits / 8;
    for (uint32_t i = 0; i < field->rank; i++) bytes *= (size_t)field->shape[i];
    return bytes;
}

lathe_tensor fixture_tensor(const lathe_field *field, int64_t rows, size_t spare,
                            size_t *bytes) {
    lathe_tensor tensor = {.code = field->code,
                           .bits = field->bits,
                           .lanes = 1,
                           .rank = field->rank + 1,
                           .shape = {rows}};
    *bytes = fixture_bytes(field, rows);
    for (uint32_t i = 0; i < field->rank; i++) tensor.shape[i + 1] = field->shape[i];
    tensor.data = aligned_alloc(64, (*bytes + spare + 64) & ~(size_t)63);
    return tensor;
}

fixture_work *fixture_work_of(uint32_t kind) {
    switch (kind) {
    case LATHE_KIND_DATASET:
        return dataset_work;
    case LATHE_KIND_MODEL:
        return model_work;
    case LATHE_KIND_OPTIMIZER:
        return optimizer_work;
    case LATHE_KIND_SCHEDULE:
        return schedule_work;
    default:
        return callback_work;
    }
}

bool fixture_work_once(struct check *check, const struct setup *setup, int variation,
                       struct text *lines) {
    struct fixture fixture;
    if (!fixture_open(&fixture, check, setup, NULL)) return false;
    fixture.variation = variation;
    const bool is_done =
        fixture_work_of(check->subject->manifest->kind)(&fixture, lines);
    fixture_close(&fixture);
    return is_done;
}

/* ---- results as text ---- */

void fixture_write_number(struct text *lines, const char *name, double number) {
    text_format(lines, "%s %a\n", name, number);
}

void fixture_write_bytes(struct text *lines, const char *name, const void *bytes,
                         int64_t count) {
    char hex[DIGEST_HEX];
    digest_bytes(bytes, (size_t)count, hex);
    text_format(lines, "%s (%lld bytes) %.16s\n", name, (long long)count, hex);
}

void fixture_write(struct text *lines, const char *name, const float *numbers,
                   int64_t count) {
    const int64_t shown = count < WRITTEN_MAX ? count : WRITTEN_MAX;
    for (int64_t i = 0; i < shown; i++)
        text_format(lines, "%s[%lld] %.9g\n", name, (long long)i, (double)numbers[i]);
    if (count > shown)
        fixture_write_bytes(lines, name, numbers + shown,
                            (count - shown) * (int64_t)sizeof *numbers);
}
