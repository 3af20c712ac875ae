/* SPDX-License-Identifier: MIT */
/* What a run leaves behind: metrics, times, status, and the record of its end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "receipt.h"
#include "session_calls.h"

/* The line of a record is made in memory that is kept: a warm step allocates
 * nothing. */
static struct text *begin_line(lathe_session *s) {
    text_clear(&s->line);
    return &s->line;
}

static lathe_status emit(lathe_session *s, const char *name, bool is_shown) {
    const struct text *line = &s->line;
    lathe_status status = LATHE_OK;
    if (line->is_broken)
        status = fail(&s->err, LATHE_ENOMEM, "no memory for a record");
    else if (name)
        status = rundir_append(s->rundir, name, line->data, &s->err);
    if (status == LATHE_OK && is_shown && s->options.record)
        s->options.record(s->options.context, line->data);
    return status;
}

static struct text *begin_record(lathe_session *s, const char *split) {
    struct text *line = begin_line(s);
    text_format(line, "{\"split\":\"%s\",\"epoch\":%lld,\"step\":%lld", split,
                (long long)s->now.epoch, (long long)s->now.step);
    return line;
}

static lathe_status record_time(lathe_session *s, enum split split) {
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    double seconds = session_seconds(s);
    struct text *line = begin_record(s, split_names[split]);
    text_add(line, ",\"seconds\":");
    text_json_number(line, seconds);
    if (split == SPLIT_TRAIN && seconds > s->last_record_seconds) {
        text_add(line, ",\"samples_per_second\":");
        text_json_number(line, (double)(s->now.samples - s->last_record_samples) /
                                   (seconds - s->last_record_seconds));
    }
    s->last_record_seconds = seconds;
    s->last_record_samples = s->now.samples;
    text_format(line, ",\"peak_memory_kib\":%ld}", usage.ru_maxrss);
    return emit(s, TIMES_FILE, false);
}

lathe_status session_record(lathe_session *s, enum split split) {
    session_trace_act(s, "record", NULL, 0);
    if (split == SPLIT_TRAIN) {
        metrics_settle(s->metrics, SPLIT_TRAIN, s->now.step);
        s->recorded_window = session_windows(s);
    }
    struct text *line = begin_record(s, split_names[split]);
    metrics_write(s->metrics, split, s->now.step, line);
    text_add(line, "}");
    lathe_status status = emit(s, METRICS_FILE, true);
    if (status == LATHE_OK) session_count_record(s, line);
    environment_poll(s->environment);
    if (status == LATHE_OK && rundir_path(s->rundir)) status = record_time(s, split);
    return status;
}

lathe_status session_tell_visit(lathe_session *s, enum split split, const char *name) {
    struct text *line = begin_record(s, name);
    metrics_write(s->metrics, split, s->now.step, line);
    text_add(line, "}");
    return emit(s, NULL, true);
}

/* ---- the beginning ---- */

static lathe_status write_text(lathe_session *s, const char *name, struct text *text) {
    lathe_status status = LATHE_OK;
    if (text->is_broken)
        status = fail(&s->err, LATHE_ENOMEM, "no memory to write %s", name);
    else
        status = rundir_write(s->rundir, name, text->data, text->length, &s->err);
    text_finish(text);
    return status;
}

static lathe_status write_status(lathe_session *s, const char *state, int exit_code) {
    const struct run_status status = {.state = state,
                                      .reason = s->reason,
                                      .exit_code = exit_code,
                                      .epoch = s->now.epoch,
                                      .step = s->now.step};
    return rundir_write_status(s->rundir, &status, &s->err);
}

lathe_status session_begin_records(lathe_session *s) {
    const struct experiment *e = s->experiments;
    lathe_status status = LATHE_OK;
    rundir_remove(s->rundir, RECEIPT_FILE); /* of what is done again, or goes on */
    if (!s->options.resume)                 /* it was written when the run began */
        status = rundir_write(s->rundir, "experiment.json", e->source,
                              strlen(e->source), &s->err);
    struct text resolved = {0};
    experiment_write_resolved(e, s->plugin_paths, s->run_id, s->from, &resolved);
    if (status == LATHE_OK)
        status = write_text(s, "resolved.json", &resolved);
    else
        text_finish(&resolved);
    if (status == LATHE_OK && s->options.resume) status = write_status(s, "running", 0);
    if (status == LATHE_OK) status = session_begin_environment(s);
    struct error unlinked = {0};
    if (status == LATHE_OK && rundir_link_latest(s->rundir, &unlinked))
        log_line(&s->log, LATHE_LOG_WARNING, "%s: %s", unlinked.where, unlinked.what);
    return status;
}

/* ---- the end ---- */

static bool holds(const struct expectation *expected, double value) {
    bool is_met = expected->comparison[0] == '>' ? value > expected->bound
                                                 : value < expected->bound;
    return is_met || (expected->comparison[1] == '=' && value == expected->bound);
}

lathe_status session_judge(lathe_session *s) {
    const struct experiment *e = s->experiment;
    for (size_t i = 0; i < e->expectation_count && !session_is_dry(s); i++) {
        const struct expectation *expected = &e->expectations[i];
        lathe_metric_view view = {.size = sizeof view, .value = NAN, .step = -1};
        int32_t watched = metrics_find(s->metrics, expected->metric);
        if (watched >= 0) metrics_view(s->metrics, watched, &view);
        if (holds(expected, view.value)) continue;
        if (view.step < 0)
            fail(&s->err, LATHE_EGATE, "%s was never measured, and %s was expected",
                 expected->metric, expected->text);
        else
            fail(&s->err, LATHE_EGATE, "%s is %.6g, and %s was expected",
                 expected->metric, view.value, expected->text);
        error_where(&s->err, "%s: expect", e->file);
        return LATHE_EGATE;
    }
    return LATHE_OK;
}

static int exit_code_of(const lathe_session *s, lathe_status status) {
    if (!strcmp(s->reason, "interrupted")) return 130;
    if (!strcmp(s->reason, "preempted")) return 75;
    return error_exit_code(status);
}

static lathe_status emit_end(lathe_session *s) {
    struct text *line = begin_line(s);
    text_add(line, "{\"event\":\"end\",\"reason\":");
    text_json_string(line, s->reason);
    if (s->stop_reason[0] && !strcmp(s->reason, "stopped")) {
        text_add(line, ",\"because\":");
        text_json_string(line, s->stop_reason);
    }
    text_format(line, ",\"epochs\":%lld,\"steps\":%lld,\"samples\":%lld,\"run\":",
                (long long)s->epochs, (long long)s->now.step,
                (long long)s->now.samples);
    text_json_string(line, rundir_path(s->rundir));
    metrics_write_all(s->metrics, line);
    text_format(line, ",\"seed\":%llu", (unsigned long long)s->experiment->seed);
    if (s->skipped) text_format(line, ",\"skipped\":%lld", (long long)s->skipped);
    text_add(line, "}");
    return emit(s, NULL, true);
}

static bool is_measured(const lathe_session *s, enum split split) {
    lathe_metric_view view = {.size = sizeof view};
    metrics_view(s->metrics, METRICS_LOSS * SPLIT_COUNT + (int32_t)split, &view);
    return view.step >= 0;
}

/* Of the metrics, those of the split that was visited last. */
static void log_metrics(const lathe_session *s, struct text *line) {
    enum split last = SPLIT_TEST;
    while (last != SPLIT_TRAIN && !is_measured(s, last)) last--;
    for (int64_t i = 0; i < metrics_count(s->metrics); i++) {
        lathe_metric_view view = {.size = sizeof view};
        metrics_view(s->metrics, (int32_t)(i * SPLIT_COUNT + last), &view);
        if (view.step >= 0) text_format(line, "; %s %.4g", view.name, view.value);
    }
}

/* The run as somebody would type it: relative, where its directory is below the present
 * one. NULL: nobody can go on with it. */
static const char *shown_directory(const lathe_session *s) {
    const char *path = s->hides_directory ? NULL : rundir_path(s->rundir);
    char here[4096];
    if (!path || !getcwd(here, sizeof here)) return path;
    const size_t length = strlen(here);
    return !strncmp(path, here, length) && path[length] == '/' ? path + length + 1
                                                               : path;
}

static void log_end(lathe_session *s) {
    const char *run = shown_directory(s);
    struct text line = {0};
    text_add(&line, s->reason);
    if (s->stop_reason[0]) text_format(&line, " (%s)", s->stop_reason);
    text_format(&line, ": %lld epoch%s, %lld step%s in %.1f s", (long long)s->epochs,
                s->epochs == 1 ? "" : "s", (long long)s->now.step,
                s->now.step == 1 ? "" : "s", session_seconds(s));
    log_metrics(s, &line);
    if (run) text_format(&line, "; %s", run);
    if (!line.is_broken) log_line(&s->log, LATHE_LOG_INFO, "%s", line.data);
    text_finish(&line);
}

/* What can be done, where nothing better was said. */
static void help_to_resume(lathe_session *s) {
    const char *run = shown_directory(s);
    const char *last = s->checkpoints ? checkpoints_last(s->checkpoints) : NULL;
    if (!run || s->err.help[0]) return;
    if (access(run, F_OK))
        error_help(&s->err, "there is no %s any more, so nothing can go on", run);
    else if (last)
        error_help(&s->err,
                   "once the cause is gone, it goes on from %s with: lathe resume %s",
                   path_name(last), run);
    else
        error_help(&s->err,
                   "nothing was saved: lathe resume %s begins again from step 0", run);
}

/* The first thing that goes wrong is the run's status; everything is tried all the
 * same. */
static lathe_status first_of(lathe_session *s, lathe_status status, struct error *kept,
                             lathe_status next) {
    if (status != LATHE_OK || next == LATHE_OK) return status;
    *kept = s->err;
    return next;
}

lathe_status session_end_records(lathe_session *s, lathe_status status) {
    struct error kept = s->err;
    if (session_is_dry(s)) return status;
    log_end(s);
    if (atomic_load(&s->stop_asked)) environment_cancel(s->environment);
    status = first_of(s, status, &kept, environment_end(s->environment, &s->err));
    s->environment = NULL;
    status =
        first_of(s, status, &kept, write_status(s, "ended", exit_code_of(s, status)));
    status = first_of(s, status, &kept, receipt_write(s->rundir, &s->err));
    status = first_of(s, status, &kept, emit_end(s));
    s->err = kept;
    if (status < 0 && status != LATHE_EGATE) help_to_resume(s);
    return status;
}
