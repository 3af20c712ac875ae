/* SPDX-License-Identifier: MIT */
/* Whole runs in this process, on the probe kit: an experiment is text with ' for ", and
 * what it did can be looked at. Include after test.h. */
#ifndef TESTS_SUPPORT_RUNS_H
#define TESTS_SUPPORT_RUNS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lathe/session.h>

#define RUN_LINES 4096

struct run {
    lathe_session *session;
    lathe_status status;
    lathe_error error;
    char *records[RUN_LINES]; /* JSON lines, in order */
    int record_count;
    char *lines[RUN_LINES]; /* of the recorder */
    int line_count;
    char file[256]; /* the recorder's */
    char log[8192];
};

static void take_record(void *context, const char *json) {
    struct run *run = context;
    if (run->record_count < RUN_LINES) run->records[run->record_count++] = strdup(json);
}

static void take_log(void *context, int32_t level, const char *text) {
    struct run *run = context;
    size_t used = strlen(run->log);
    snprintf(run->log + used, sizeof run->log - used, "%d: %s\n", level, text);
}

/* ' becomes ", and @ the recorder's file. */
static char *expand(const char *text, const char *file) {
    char *full = calloc(1, strlen(text) * 2 + 8 * strlen(file) + 1);
    for (char *to = full; *text; text++) {
        if (*text == '@')
            to = stpcpy(to, file);
        else
            *to++ = *text == '\'' ? '"' : *text;
    }
    return full;
}

static inline void run_open(struct run *run, const char *text,
                            const char *const *overrides) {
    const char *kit[] = {getenv("PROBES"), NULL};
    memset(run, 0, sizeof *run);
    run->error.size = sizeof run->error;
    const char *base = getenv("TMPDIR");
    snprintf(run->file, sizeof run->file, "%s/lathe-recorder-XXXXXX",
             base && *base ? base : "/tmp");
    int fd = mkstemp(run->file);
    if (fd >= 0) close(fd);
    char *experiment = expand(text, run->file);
    const lathe_session_options options = {.size = sizeof options,
                                           .experiment = experiment,
                                           .overrides = overrides,
                                           .plugin_paths = kit,
                                           .log = take_log,
                                           .record = take_record,
                                           .context = run};
    run->status = lathe_open(&options, &run->session, &run->error);
    free(experiment);
}

static inline void read_lines(struct run *run) {
    FILE *file = fopen(run->file, "r");
    char line[4096];
    while (file && run->line_count < RUN_LINES && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        run->lines[run->line_count++] = strdup(line);
    }
    if (file) fclose(file);
}

/* Opens and runs; the session stays open to be looked at. */
static inline void run_begin(struct run *run, const char *text,
                             const char *const *overrides) {
    run_open(run, text, overrides);
    if (run->status != LATHE_OK) return;
    run->status = lathe_run(run->session);
    run->error = *lathe_last_error(run->session);
    read_lines(run);
}

static inline void run_finish(struct run *run) {
    lathe_close(run->session);
    for (int i = 0; i < run->record_count; i++) free(run->records[i]);
    for (int i = 0; i < run->line_count; i++) free(run->lines[i]);
    unlink(run->file);
}

static inline float run_weight(const struct run *run) {
    return lathe_weights(run->session, LATHE_READ, NULL)[0];
}

static inline double run_value(const struct run *run, const char *metric) {
    double value = NAN;
    lathe_value(run->session, metric, &value);
    return value;
}

/* Lines of the recorder that begin with `point` and a space. */
static inline int run_count(const struct run *run, const char *point) {
    int count = 0;
    for (int i = 0; i < run->line_count; i++) {
        size_t length = strlen(point);
        count += !strncmp(run->lines[i], point, length) && run->lines[i][length] == ' ';
    }
    return count;
}

static inline const char *run_last_record(const struct run *run) {
    return run->record_count ? run->records[run->record_count - 1] : "";
}

#endif
