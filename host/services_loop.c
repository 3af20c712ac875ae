/* SPDX-License-Identifier: MIT */
/* The host table, second half: metrics, time, and the memory that training is about. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "services.h"

/* ---- metrics ---- */

static int32_t metric(const lathe_host *host, const lathe_metric *wanted) {
    lathe_session *s = services_session(host);
    struct error err = {0};
    if (!services_may_load(host, "metric")) return 0;
    if (wanted->size < LATHE_METRIC_SIZE_1_0) {
        plugin_misuse(services_caller(host), LATHE_EPLUGIN, "lathe_metric of %u bytes",
                      wanted->size);
        return 0;
    }
    int32_t index = -1;
    if (!manifest_declares_metric(services_caller(host)->use->manifest, wanted->name))
        fail(&err, LATHE_EPLUGIN, "its manifest does not list the metric \"%s\"",
             wanted->name ? wanted->name : "");
    else
        index = metrics_declare(s->metrics, wanted->name, wanted->flags, &err);
    if (index < 0) plugin_misuse(services_caller(host), LATHE_EPLUGIN, "%s", err.what);
    return index < 0 ? 0 : index;
}

static void report(const lathe_host *host, int32_t index, double sum, double weight) {
    lathe_session *s = services_session(host);
    if (!services_may_loop(host, "report")) return;
    if (index <= METRICS_LOSS || index >= metrics_count(s->metrics)) {
        plugin_misuse(services_caller(host), LATHE_EPLUGIN,
                      "it reported metric %d, which it did not declare", index);
        return;
    }
    metrics_add(s->metrics, s->visiting, index, sum, weight);
    if (s->point == POINT_VALIDATION_END) /* so that those after it see it fresh */
        metrics_settle(s->metrics, s->visiting, s->now.step);
}

static int32_t watch(const lathe_host *host, const char *name) {
    if (!services_may_load(host, "watch")) return -1;
    int32_t watched = name ? metrics_find(services_session(host)->metrics, name) : -1;
    if (watched < 0)
        plugin_misuse(services_caller(host), LATHE_EINVAL,
                      "it watches \"%s\", which nobody before it reports", name);
    return watched;
}

static int32_t value(const lathe_host *host, int32_t watched, double *to) {
    const lathe_session *s = services_session(host);
    lathe_metric_view view = {.size = sizeof view, .value = NAN, .step = -1};
    *to = NAN;
    if (!services_may_loop(host, "value")) return 0;
    if (watched < 0 || watched >= metrics_count(s->metrics) * SPLIT_COUNT) {
        plugin_misuse(services_caller(host), LATHE_EPLUGIN,
                      "it asked for metric %d, which it does not watch", watched);
        return 0;
    }
    metrics_view(s->metrics, watched, &view);
    *to = view.value;
    return view.step == s->now.step;
}

static int64_t metric_total(const lathe_host *host) {
    const struct metrics *metrics = services_session(host)->metrics;
    int64_t total = 0;
    while (metrics_at(metrics, total) >= 0) total++;
    return total;
}

static lathe_status metric_at(const lathe_host *host, int64_t i,
                              lathe_metric_view *view) {
    const struct metrics *metrics = services_session(host)->metrics;
    int32_t watched = i < 0 ? -1 : metrics_at(metrics, i);
    if (watched < 0) return LATHE_END;
    metrics_view(metrics, watched, view);
    return LATHE_OK;
}

static double *tally(const lathe_host *host, const char *name, int64_t wanted) {
    lathe_session *s = services_session(host);
    if (!services_may_load(host, "tally") || wanted < 1) return NULL;
    struct tally *tallies = grow(s->tallies, (size_t)s->tally_count, sizeof *tallies);
    double *numbers = calloc((size_t)wanted, sizeof *numbers);
    if (tallies) s->tallies = tallies;
    if (!tallies || !numbers) {
        free(numbers);
        plugin_misuse(services_caller(host), LATHE_ENOMEM, "no memory for tally \"%s\"",
                      name);
        return NULL;
    }
    tallies[s->tally_count++] = (struct tally){.numbers = numbers, .count = wanted};
    return numbers;
}

/* ---- when ---- */

static int32_t every(const lathe_host *host, const char *path) {
    lathe_session *s = services_session(host);
    struct plugin *caller = services_caller(host);
    if (!services_may_load(host, "every")) return 0;
    struct interval *intervals =
        grow(s->intervals, (size_t)s->interval_count, sizeof *intervals);
    if (intervals) s->intervals = intervals;
    char *name = intervals ? text_make("%s/%s", caller->use->id, path) : NULL;
    if (!name) {
        plugin_misuse(caller, LATHE_ENOMEM, "no memory for interval \"%s\"", path);
        return 0;
    }
    struct interval *interval = &intervals[s->interval_count];
    *interval = (struct interval){.name = name};
    if (host->has(host, path))
        options_durations(options_find(caller->use->options, path), &interval->every);
    return (int32_t)s->interval_count++;
}

static int32_t is_due(const lathe_host *host, int32_t interval) {
    const lathe_session *s = services_session(host);
    if (!services_may_loop(host, "is_due")) return 0;
    return interval >= 0 && interval < s->interval_count &&
           s->intervals[interval].is_due;
}

static void request(const lathe_host *host, uint32_t what, const char *reason) {
    lathe_session *s = services_session(host);
    if (!services_may_loop(host, "request")) return;
    if (what & LATHE_REQUEST_STOP && !(s->requests & LATHE_REQUEST_STOP))
        snprintf(s->stop_reason, sizeof s->stop_reason, "%s: %s",
                 services_caller(host)->use->id, reason ? reason : "");
    s->requests |=
        what & (LATHE_REQUEST_STOP | LATHE_REQUEST_VALIDATE | LATHE_REQUEST_SAVE);
}

/* ---- memory ---- */

static int64_t parameter_total(const lathe_host *host) {
    return services_session(host)->parameters.count;
}

static lathe_status parameter(const lathe_host *host, int64_t i,
                              lathe_parameter_view *to) {
    return lathe_parameter_at(services_session(host), i, to);
}

static bool may_write_weights(const lathe_session *s) {
    switch (s->point) {
    case POINT_STEP_END:
    case POINT_VALIDATION_BEGIN:
    case POINT_VALIDATION_BATCH_END:
    case POINT_VALIDATION_END:
    case POINT_EPOCH_BEGIN:
    case POINT_EPOCH_END:
        return true;
    default:
        return false;
    }
}

static float *weights(const lathe_host *host, uint32_t access) {
    lathe_session *s = services_session(host);
    if (!services_may_loop(host, "weights")) return NULL;
    if (access == LATHE_READ || may_write_weights(s)) return s->weights;
    plugin_misuse(services_caller(host), LATHE_EPLUGIN,
                  "it wants to write weights in %s; step_end, "
                  "validation_* and epoch_* are the places",
                  session_point_name(s->point));
    return NULL;
}

static float *gradients(const lathe_host *host, uint32_t access) {
    lathe_session *s = services_session(host);
    if (!services_may_loop(host, "gradients")) return NULL;
    if (s->point == POINT_GRADIENTS_READY) return session_take_gradients(s, access);
    plugin_misuse(services_caller(host), LATHE_EPLUGIN,
                  "it wants gradients in %s; gradients_ready is the place",
                  session_point_name(s->point));
    return NULL;
}

static float *block(const lathe_host *host, const char *name) {
    lathe_session *s = services_session(host);
    if (!services_may_load(host, "block")) return NULL;
    if (!s->weights || !name) {
        plugin_misuse(services_caller(host), LATHE_EPLUGIN,
                      "it asked for a block before the model is laid out; optimizers, "
                      "schedules and callbacks can");
        return NULL;
    }
    struct own_block *blocks = grow(s->blocks, (size_t)s->block_count, sizeof *blocks);
    if (!blocks) return NULL;
    s->blocks = blocks;
    struct own_block *own = &blocks[s->block_count];
    own->name = text_make("%s/%s", services_caller(host)->use->id, name);
    own->block = block_create(s->parameters.size);
    if (own->name && own->block) {
        s->block_count++;
        return own->block;
    }
    block_destroy(own->block, s->parameters.size);
    free(own->name);
    return NULL;
}

static void evaluate_with(const lathe_host *host, const float *wanted) {
    lathe_session *s = services_session(host);
    if (!services_may_loop(host, "evaluate_with")) return;
    if (s->point == POINT_VALIDATION_BEGIN)
        s->evaluated = wanted;
    else
        plugin_misuse(services_caller(host), LATHE_EPLUGIN,
                      "it called evaluate_with in %s; validation_begin is the place",
                      session_point_name(s->point));
}

static lathe_status predict(const lathe_host *host, const lathe_batch *batch,
                            const lathe_tensor *outputs) {
    lathe_session *s = services_session(host);
    if (!services_may_loop(host, "predict")) return LATHE_EPLUGIN;
    if (s->place == PLACE_FORWARD) {
        plugin_misuse(services_caller(host), LATHE_EPLUGIN,
                      "it called predict between forward and backward");
        return LATHE_EPLUGIN;
    }
    lathe_status status = session_predict(s, batch, outputs);
    if (status == LATHE_OK) return status;
    return host->fail(host, status, s->err.what);
}

static const char *run_directory(const lathe_host *host) {
    return rundir_path(services_session(host)->rundir);
}

void services_fill_loop(lathe_host *host) {
    host->metric = metric;
    host->report = report;
    host->watch = watch;
    host->value = value;
    host->metrics = metric_total;
    host->metric_at = metric_at;
    host->tally = tally;
    host->every = every;
    host->is_due = is_due;
    host->request = request;
    host->parameters = parameter_total;
    host->parameter = parameter;
    host->weights = weights;
    host->gradients = gradients;
    host->block = block;
    host->evaluate_with = evaluate_with;
    host->predict = predict;
    host->run_directory = run_directory;
}
