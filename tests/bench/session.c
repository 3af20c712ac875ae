/* SPDX-License-Identifier: MIT */
/* A session turned by hand, piece by piece, for the parts that measure single steps;
 * and the network that most of them measure, which has no thread but those it is said
 * to have. */
#include "bench.h"

#include <stdio.h>

#define WARM_UP 5

const char bench_mlp[] =
    "{ \"lathe\": 1, \"name\": \"bench\", \"seed\": 7,"
    "  \"data\": { \"train\": { \"use\": \"idx\","
    "    \"images\": \"" FASHION "train-images-idx3-ubyte.gz\","
    "    \"labels\": \"" FASHION "train-labels-idx1-ubyte.gz\" } },"
    "  \"model\": { \"use\": \"mlp\", \"hidden\": [512, 256] },"
    "  \"optimizer\": { \"use\": \"sgd\", \"lr\": 0.01 },"
    "  \"train\": { \"until\": \"1000ep\", \"batch\": 64, \"prefetch\": false } }";

double bench_mlp_flops(int batch) {
    const double first = 784.0 * 512, others = 512.0 * 256 + 256.0 * 10;
    return 2 * batch * (2 * (first + others) + others);
}

static void check(lathe_session *session, lathe_status status) {
    if (status >= 0) return;
    const lathe_error *error = lathe_last_error(session);
    bench_give_up("%s (%s)", error->what, error->where);
}

static void begin_epoch(lathe_session *session) {
    lathe_status status = lathe_epoch_begin(session);
    check(session, status);
    if (status == LATHE_END) bench_give_up("the run ended while it was measured");
}

lathe_session *bench_open_in(const struct bench *bench, const char *directory,
                             const char *experiment, const char *const *overrides,
                             const lathe_linked_plugin *const *linked) {
    char shipped[512], probes[512];
    snprintf(shipped, sizeof shipped, "%s/plugins", bench->build);
    snprintf(probes, sizeof probes, "%s/tests/plugins", bench->build);
    const char *const paths[] = {shipped, probes, NULL};
    lathe_session_options options = {
        .size = sizeof options,
        .flags = LATHE_QUIET,
        .experiment = experiment,
        .overrides = overrides,
        .plugin_paths = paths,
        .linked = linked,
        .run_directory = directory,
    };
    lathe_session *session = NULL;
    lathe_error error = {.size = sizeof error};
    if (lathe_open(&options, &session, &error) != LATHE_OK)
        bench_give_up("%s (%s) %s", error.what, error.where, error.help);
    check(session, lathe_run_begin(session));
    begin_epoch(session);
    return session;
}

lathe_session *bench_open(const struct bench *bench, const char *experiment,
                          const char *const *overrides,
                          const lathe_linked_plugin *const *linked) {
    return bench_open_in(bench, NULL, experiment, overrides, linked);
}

void bench_step(lathe_session *session) {
    lathe_status status = lathe_step_begin(session);
    if (status == LATHE_END) {
        begin_epoch(session);
        status = lathe_step_begin(session);
    }
    check(session, status);
    while ((status = lathe_batch_begin(session)) == LATHE_OK) {
        check(session, lathe_forward(session));
        check(session, lathe_backward(session));
    }
    check(session, status);
    check(session, lathe_reduce(session));
    check(session, lathe_update(session));
    if (lathe_is_due(session, LATHE_DUE_EPOCH_END))
        check(session, lathe_epoch_end(session));
}

double bench_time_steps(lathe_session *session, int steps) {
    for (int i = 0; i < WARM_UP; i++) bench_step(session);
    double begin = bench_seconds();
    for (int i = 0; i < steps; i++) bench_step(session);
    return bench_seconds() - begin;
}

void bench_close(lathe_session *session) {
    check(session, lathe_run_end(session, LATHE_STOP));
    lathe_close(session);
}
