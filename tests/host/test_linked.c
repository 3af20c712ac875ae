/* SPDX-License-Identifier: MIT */
/* Plugins that are linked in: one that has nothing but what it must have, and one that
 * notes on which thread it is called. */
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lathe/callback.h>
#include <lathe/session.h>

static lathe_status create(const lathe_host *host, void **self) {
    (void)host;
    *self = NULL;
    return LATHE_OK;
}

static pthread_t loop_thread;
static int calls, calls_elsewhere, calls_at_once;
static atomic_int inside;

static lathe_status note(void *self, const lathe_moment *at) {
    (void)self;
    (void)at;
    if (atomic_fetch_add(&inside, 1)) calls_at_once++;
    calls++;
    if (!pthread_equal(pthread_self(), loop_thread)) calls_elsewhere++;
    atomic_fetch_sub(&inside, 1);
    return LATHE_OK;
}

static const lathe_callback_ops bare = {.size = sizeof bare, .create = create};
static const lathe_callback_ops noting = {.size = sizeof noting,
                                          .create = create,
                                          .run_begin = note,
                                          .epoch_begin = note,
                                          .step_begin = note,
                                          .batch_begin = note,
                                          .loss_ready = note,
                                          .batch_end = note,
                                          .gradients_ready = note,
                                          .step_end = note,
                                          .validation_begin = note,
                                          .validation_batch_end = note,
                                          .validation_end = note,
                                          .epoch_end = note,
                                          .run_end = note};

static const lathe_plugin entries[] = {
    {sizeof(lathe_plugin), LATHE_KIND_CALLBACK, LATHE_ABI_MINOR, 0, &bare},
    {sizeof(lathe_plugin), LATHE_KIND_CALLBACK, LATHE_ABI_MINOR, 0, &noting}};

#define MANIFEST(name)                                                                 \
    "{ \"lathe\": 1, \"kind\": \"callback\", \"name\": \"" name                        \
    "\", \"version\": \"1\", \"license\": \"MIT\", \"summary\": \"Linked in\" }"
static const lathe_linked_plugin linked[] = {
    {.size = sizeof *linked, .plugin = &entries[0], .manifest = MANIFEST("bare")},
    {.size = sizeof *linked, .plugin = &entries[1], .manifest = MANIFEST("noting")}};

/* 8 micro-batches in windows of 2, twice, on two threads. */
static float train(const char *callbacks, int64_t *steps) {
    static const char experiment[] =
        "{ \"lathe\": 1, \"seed\": 1,"
        "  \"data\": { \"train\": { \"use\": \"ids\", \"count\": 32, \"noise\": 1 },"
        "              \"validation\": { \"use\": \"ids\", \"count\": 9 } },"
        "  \"model\": { \"use\": \"scalar\", \"start\": 3, \"square\": true },"
        "  \"optimizer\": { \"use\": \"sgd\", \"lr\": 0.1 },"
        "  \"train\": { \"until\": \"2ep\", \"batch\": 4, \"accumulate\": 2,"
        "               \"shards\": 2, \"threads\": 2 } }";
    char shipped[512];
    snprintf(shipped, sizeof shipped, "%s/plugins", getenv("BUILD"));
    const char *places[] = {getenv("PROBES"), shipped, NULL};
    const lathe_linked_plugin *const both[] = {&linked[0], &linked[1], NULL};
    lathe_session *session;
    lathe_error error = {.size = sizeof error};
    const lathe_session_options options = {.size = sizeof options,
                                           .experiment = experiment,
                                           .overrides =
                                               (const char *const[]){callbacks, NULL},
                                           .plugin_paths = places,
                                           .linked = both};
    if (lathe_open(&options, &session, &error))
        fail_msg("%s; %s", error.what, error.where);
    assert_int_equal(lathe_run(session), LATHE_OK);
    const float weight = lathe_weights(session, LATHE_READ, NULL)[0];
    *steps = lathe_now(session)->step;
    lathe_close(session);
    return weight;
}

/* Neither leaving out what is optional nor taking part in everything changes what a
 * window is. */
static void what_is_left_out_changes_nothing(void **state) {
    int64_t steps[3];
    (void)state;
    loop_thread = pthread_self();
    const float none = train("callbacks=[]", &steps[0]);
    assert_true(train("callbacks=[{\"use\": \"bare\"}]", &steps[1]) == none);
    assert_true(train("callbacks=[{\"use\": \"noting\"}]", &steps[2]) == none);
    for (int i = 0; i < 3; i++) assert_int_equal(steps[i], 8);
}

static void callbacks_are_called_by_one_thread(void **state) {
    int64_t steps;
    (void)state;
    loop_thread = pthread_self();
    calls = calls_elsewhere = calls_at_once = 0;
    train("callbacks=[{\"use\": \"noting\"}, {\"use\": \"noting\", \"id\": \"two\"}]",
          &steps);
    assert_true(calls > 100);
    assert_int_equal(calls_elsewhere, 0);
    assert_int_equal(calls_at_once, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_out_changes_nothing),
        cmocka_unit_test(callbacks_are_called_by_one_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
