/* SPDX-License-Identifier: MIT */
/* Whole runs with a directory, that go on after they ended or were killed, and what
 * must be the same in the end. Include after test.h and scratch.h. */
#ifndef TESTS_SUPPORT_TURNS_H
#define TESTS_SUPPORT_TURNS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lathe/session.h>

#include "base/file.h"
#include "base/text.h"

#define OVERRIDES_MAX 8

/* Everything that must be the same in the end. */
struct outcome {
    lathe_status status;
    lathe_error error;
    char reason[32];
    float *weights;
    int64_t count, step;
    char *metrics, *csv; /* files */
};

static uint32_t turns_flags; /* LATHE_ALLOW_CHANGE */

static const char *const *overrides_of(const char *const *more, int threads) {
    static const char *list[OVERRIDES_MAX + 1];
    static char text[32];
    int count = 0;
    snprintf(text, sizeof text, "train.threads=%d", threads);
    list[count++] = text;
    while (more && *more && count < OVERRIDES_MAX) list[count++] = *more++;
    list[count] = NULL;
    return list;
}

static char *read_whole(const char *run, const char *name) {
    char *path = text_make("%s/%s", run, name), *content = NULL;
    if (file_read(path, 1 << 24, &content, NULL, NULL) != LATHE_OK)
        content = text_copy("(none)");
    free(path);
    return content;
}

/* The probe kit, and the plugins of the build; borrowed until the next call. */
static const char *const *plugin_places(void) {
    static char shipped[512];
    static const char *places[3];
    snprintf(shipped, sizeof shipped, "%s/plugins", getenv("BUILD"));
    places[0] = getenv("PROBES");
    places[1] = shipped;
    return places;
}

static lathe_status open_run(lathe_session **session, const char *experiment,
                             const char *directory, bool is_resumed,
                             const char *const *overrides, lathe_error *error) {
    const lathe_session_options options = {.size = sizeof options,
                                           .flags = turns_flags,
                                           .experiment = experiment,
                                           .overrides = overrides,
                                           .plugin_paths = plugin_places(),
                                           .run_directory =
                                               is_resumed ? NULL : directory,
                                           .resume = is_resumed ? directory : NULL};
    return lathe_open(&options, session, error);
}

/* `experiment` begins a run in the directory; NULL: the run there goes on. */
static struct outcome turn(const char *experiment, const char *directory, int threads,
                           const char *const *more) {
    struct outcome outcome = {.error.size = sizeof outcome.error};
    lathe_session *session = NULL;
    outcome.status = open_run(&session, experiment, directory, !experiment,
                              overrides_of(more, threads), &outcome.error);
    if (!session) return outcome;
    outcome.status = lathe_run(session);
    outcome.error = *lathe_last_error(session);
    snprintf(outcome.reason, sizeof outcome.reason, "%s", lathe_reason(session));
    const float *weights = lathe_weights(session, LATHE_READ, &outcome.count);
    outcome.weights = malloc((size_t)outcome.count * sizeof(float));
    memcpy(outcome.weights, weights, (size_t)outcome.count * sizeof(float));
    outcome.step = lathe_now(session)->step;
    lathe_close(session);
    outcome.metrics = read_whole(directory, "metrics.jsonl");
    outcome.csv = read_whole(directory, "results.csv");
    return outcome;
}

static void finish(struct outcome *outcome) {
    free(outcome->weights);
    free(outcome->metrics);
    free(outcome->csv);
}

static inline void assert_same(const struct outcome *expected,
                               const struct outcome *found, const char *when) {
    if (found->status != expected->status)
        fail_msg("%s: status %d: %s; %s", when, found->status, found->error.what,
                 found->error.where);
    if (strcmp(expected->reason, found->reason) != 0)
        fail_msg("%s: %s, not %s", when, found->reason, expected->reason);
    if (expected->count != found->count ||
        memcmp(expected->weights, found->weights,
               (size_t)found->count * sizeof(float)) != 0)
        fail_msg("%s: weights from %.9g on, not from %.9g", when,
                 (double)found->weights[0], (double)expected->weights[0]);
    if (strcmp(expected->metrics, found->metrics) != 0)
        fail_msg("%s: metrics.jsonl\n%s\nnot\n%s", when, found->metrics,
                 expected->metrics);
    if (strcmp(expected->csv, found->csv) != 0)
        fail_msg("%s: results.csv\n%s\nnot\n%s", when, found->csv, expected->csv);
}

/* Runs in a process of its own, which is to be killed on the way. */
static inline void run_killed(const char *experiment, const char *directory,
                              int threads, const char *const *overrides) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct outcome outcome = turn(experiment, directory, threads, overrides);
        _exit(outcome.status == LATHE_OK ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("%s: the run was not killed (status %x)", directory, status);
}

#endif
