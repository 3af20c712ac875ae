/* SPDX-License-Identifier: MIT */
/* Opening and closing a session: what can fail before step 0 does so here. */
#include <stdlib.h>
#include <string.h>

#include "session_calls.h"

static void write_log(void *context, int32_t level, const char *text) {
    static const char *const levels[] = {"error", "warning", "info", "debug"};
    lathe_session *s = context;
    struct text line = {0};
    text_format(&line, "%s: %s", levels[level < 0 || level > 3 ? 3 : level], text);
    if (!line.is_broken) {
        if (s->rundir)
            rundir_append(s->rundir, "log.txt", line.data, NULL);
        else
            text_format(&s->early_log, "%s\n", line.data);
    }
    text_finish(&line);
    if (s->options.log) s->options.log(s->options.context, level, text);
}

/* An experiment that came out of a checkpoint has no file: the checkpoint is named. */
static void name_checkpoint(lathe_session *s) {
    const size_t length = strlen(EXPERIMENT_TEXT);
    char rest[sizeof s->err.where];
    if (!s->origin_path || strncmp(s->err.where, EXPERIMENT_TEXT, length)) return;
    strcpy(rest, s->err.where + length);
    s->err.where[0] = '\0';
    error_where(&s->err, "%s%s", s->origin_path, rest);
}

static lathe_status open_experiment(lathe_session *s) {
    struct errors errors = {0};
    lathe_status status = (s->before ? experiment_reopen : experiment_open)(
        s->options.experiment, s->options.overrides, s->registry, &s->experiments,
        &errors);
    if (status != LATHE_OK && errors.count) {
        s->err = errors.items[0];
        s->err.status = status;
        if (s->options.experiment == s->own_experiment) name_checkpoint(s);
        if (errors.count > 1 && !s->err.help[0])
            error_help(&s->err, "this is one error of %zu; lathe validate shows all",
                       errors.count);
    }
    errors_finish(&errors);
    s->experiment = s->experiments;
    if (status == LATHE_OK && s->before)
        status = experiment_take_seed(s->experiments,
                                      json_whole(json_get(s->before, "seed")), &s->err);
    return status;
}

lathe_status session_open_workers(lathe_session *s) {
    const struct train_settings *train = &s->experiment->train;
    int64_t threads = train->threads ? train->threads : workers_cores();
    if (threads > train->shards) threads = train->shards;
    return workers_create((int)threads, train->flush_denormals, &s->workers, &s->err);
}

/* Not an error: the arithmetic is right, but somebody expected another. */
static void warn_of_short_epoch(lathe_session *s) {
    const int64_t batch = s->experiment->train.batch, samples = s->sampler.samples;
    if (batch > samples)
        log_line(&s->log, LATHE_LOG_WARNING,
                 "train.batch is %lld and the training data has %lld samples: each "
                 "micro-batch is all of it",
                 (long long)batch, (long long)samples);
    if (s->sampler.accumulate <= s->sampler.micros_per_epoch) return;
    log_line(&s->log, LATHE_LOG_WARNING,
             "train.accumulate is %lld and an epoch has %lld micro-batches: each "
             "window, and so each step, is one epoch",
             (long long)s->sampler.accumulate, (long long)s->sampler.micros_per_epoch);
}

static lathe_status make_directory(lathe_session *s) {
    const char *asked = s->options.run_directory;
    char *path = NULL;
    if (s->rundir) return LATHE_OK; /* of the run that goes on */
    if (asked && !strcmp(asked, LATHE_RUN_DEFAULT)) {
        path = rundir_default_path(s->experiment->name);
        if (!path) return fail(&s->err, LATHE_ENOMEM, "no memory for the run's name");
        asked = path;
    }
    lathe_status status = rundir_create(asked, &s->rundir, &s->err);
    free(path);
    return status;
}

static lathe_status open_directory(lathe_session *s) {
    lathe_status status = make_directory(s);
    if (status == LATHE_OK && rundir_path(s->rundir))
        status = checkpoints_create(rundir_path(s->rundir), s->run_id, &s->log,
                                    &s->checkpoints, &s->err);
    if (status == LATHE_OK && s->checkpoints) checkpoints_keep(s->checkpoints, s->kept);
    if (status == LATHE_OK && s->options.resume && s->origin)
        checkpoints_resumed(s->checkpoints, s->origin_path);
    if (status == LATHE_OK) status = session_restore(s, false);
    if (status == LATHE_OK) session_tell_origin(s);
    if (status == LATHE_OK && s->early_log.length && !s->options.resume)
        status = rundir_write(s->rundir, "log.txt", s->early_log.data,
                              s->early_log.length, &s->err);
    if (status == LATHE_OK) status = session_begin_records(s);
    if (status == LATHE_OK) session_keep_ring(s);
    return status;
}

lathe_status session_is_wanted(lathe_session *s) {
    if (s->place != PLACE_OPEN || !atomic_load(&s->stop_asked)) return LATHE_OK;
    return fail(&s->err, LATHE_STOP, "told to end before the run began");
}

static lathe_status open_all(lathe_session *s) {
    const struct experiment *e;
    lathe_status status = session_find_origin(s);
    if (status == LATHE_OK)
        status =
            registry_open(s->plugin_paths, s->options.linked, &s->registry, &s->err);
    if (status == LATHE_OK) status = open_experiment(s);
    if (status == LATHE_OK) status = session_find_stage(s);
    if (status != LATHE_OK) return status;
    e = s->experiment;
    if (e->is_seed_drawn && !s->before)
        log_line(&s->log, LATHE_LOG_INFO,
                 "seed %llu was drawn; seed=%llu repeats this run",
                 (unsigned long long)e->seed, (unsigned long long)e->seed);
    status = files_create(&s->files, &s->err);
    if (status == LATHE_OK) status = session_compose_stages(s);
    if (status == LATHE_OK) status = session_check_changes(s);
    if (status == LATHE_OK) warn_of_short_epoch(s);
    if (status == LATHE_OK) status = session_is_wanted(s);
    if (status == LATHE_OK) status = open_directory(s);
    return status;
}

static void copy_error(const struct error *from, lathe_error *to) {
    lathe_error full = {.size = to->size, .status = from->status};
    memcpy(full.what, from->what, sizeof full.what);
    memcpy(full.where, from->where, sizeof full.where);
    memcpy(full.help, from->help, sizeof full.help);
    memcpy(to, &full, to->size < sizeof full ? to->size : sizeof full);
}

static void init(lathe_session *s, const lathe_session_options *options) {
    memcpy(&s->options, options,
           options->size < sizeof s->options ? options->size : sizeof s->options);
    s->log = (struct log){.write = write_log, .context = s};
    s->loading = (struct loading){
        .log = &s->log, .try = s->options.try_library, .context = s->options.context};
    s->now = (lathe_moment){
        .size = sizeof s->now, .stage = 1, .split = split_names[SPLIT_TRAIN]};
    digest_begin(&s->sum);
    s->point = POINT_NONE;
    s->kept = 1;
    s->place = PLACE_OPEN;
    services_fill(&s->services);
}

lathe_status lathe_open(const lathe_session_options *options, lathe_session **session,
                        lathe_error *error) {
    struct error refused = {0};
    lathe_session *s = NULL;
    if (!options || options->size < LATHE_SESSION_OPTIONS_SIZE_1_0 ||
        !(options->experiment || options->resume || options->from))
        fail(&refused, LATHE_EINVAL, "session options need a size and an experiment");
    else if (!(s = calloc(1, sizeof *s)))
        fail(&refused, LATHE_ENOMEM, "no memory for a session");
    if (!s) {
        *session = NULL;
        if (error) copy_error(&refused, error);
        return refused.status;
    }
    workers_adopt();
    init(s, options);
    lathe_status status = session_begin_calls(s);
    /* While it is opened already, for who wants it stopped. */
    __atomic_store_n(session, s, __ATOMIC_RELEASE);
    if (status == LATHE_OK) status = open_all(s);
    if (status != LATHE_OK && session_is_wanted(s) == LATHE_STOP)
        status = LATHE_STOP; /* whatever a plugin made of it */
    if (status != LATHE_OK) {
        __atomic_store_n(session, NULL, __ATOMIC_RELEASE);
        if (error) copy_error(&s->err, error);
        environment_end(s->environment, NULL);
        s->environment = NULL;
        rundir_discard(s->rundir);
        lathe_close(s);
        return status;
    }
    safetensors_close(s->origin);
    s->origin = NULL;
    return LATHE_OK;
}

void lathe_close(lathe_session *s) {
    if (!s) return;
    environment_end(s->environment, NULL);
    workers_adopt();
    s->phase = PHASE_LOAD;
    checkpoints_destroy(s->checkpoints);
    session_free_snapshot(s);
    session_decompose(s);
    files_destroy(s->files);
    metrics_destroy(s->metrics);
    workers_destroy(s->workers);
    rundir_close(s->rundir);
    experiment_close(s->experiments);
    registry_close(s->registry);
    session_forget_origin(s);
    json_close(s->opened);
    json_close(s->notes);
    text_finish(&s->early_log);
    text_finish(&s->line);
    session_end_calls(s);
    free(s);
}

void lathe_stop(lathe_session *s, const char *reason) {
    atomic_store(&s->stop_asked, reason);
}

void lathe_request(lathe_session *s, uint32_t what) {
    atomic_fetch_or(&s->requests_asked, what);
}

const lathe_error *lathe_last_error(lathe_session *s) {
    s->last_error.size = sizeof s->last_error;
    copy_error(&s->err, &s->last_error);
    return &s->last_error;
}

const lathe_moment *lathe_now(const lathe_session *s) {
    return &s->now;
}

const char *lathe_origin(const lathe_session *s) {
    return s->origin_path;
}

const char *lathe_reason(const lathe_session *s) {
    return s->reason;
}

int64_t lathe_parameters(const lathe_session *s) {
    return s->parameters.count;
}

lathe_status lathe_parameter_at(const lathe_session *s, int64_t i,
                                lathe_parameter_view *view) {
    if (i < 0 || i >= s->parameters.count) return LATHE_END;
    parameters_view(&s->parameters, i, view);
    return LATHE_OK;
}

float *lathe_weights(lathe_session *s, uint32_t access, int64_t *count) {
    (void)access; /* nothing is kept that is derived from them */
    if (count) *count = s->parameters.size;
    return s->weights;
}

float *lathe_gradients(lathe_session *s, uint32_t access, int64_t *count) {
    if (count) *count = s->parameters.trained_end;
    return session_take_gradients(s, access);
}

int32_t lathe_value(const lathe_session *s, const char *metric, double *value) {
    lathe_metric_view view = {.size = sizeof view, .step = -1};
    int32_t watched = metrics_find(s->metrics, metric);
    if (watched >= 0) metrics_view(s->metrics, watched, &view);
    if (view.step < 0) return 0;
    *value = view.value;
    return 1;
}
