/* SPDX-License-Identifier: MIT */
/* labels: no-tsan */
/* However a run ends before its time, it says why, leaves a state that can be resumed,
 * and ends in the same bits once the cause is gone. */
#include "support/scratch.h"
#include "support/test.h"
#include "support/turns.h"

static const char experiment[] =
    "{ \"lathe\": 1, \"name\": \"ended\", \"seed\": 5,"
    "  \"data\": {"
    "    \"train\": { \"use\": \"ids\", \"count\": 26, \"inputs\": [1, 2, 0.5],"
    "                 \"noise\": 0.25 },"
    "    \"validation\": { \"use\": \"ids\", \"count\": 7, \"inputs\": [1, 3] } },"
    "  \"model\": { \"use\": \"scalar\", \"square\": true, \"start\": 3 },"
    "  \"optimizer\": { \"use\": \"adamw\", \"lr\": 0.05 },"
    "  \"train\": { \"until\": \"4ep\", \"batch\": 2, \"accumulate\": 3,"
    "               \"validate\": \"4step\", \"log\": \"3step\" },"
    "  \"callbacks\": ["
    "    { \"use\": \"ema\", \"decay\": 0.8 }, { \"use\": \"csv\" },"
    "    { \"use\": \"early-stopping\", \"patience\": 40 },"
    "    { \"use\": \"chaos\", \"act\": \"none\" } ] }";

static const char *const calm[] = {"callbacks.chaos.act=none", NULL};

static const char *const points[] = {
    "run_begin",      "epoch_begin",      "step_begin",           "batch_begin",
    "loss_ready",     "batch_end",        "gradients_ready",      "step_end",
    "validation_end", "validation_begin", "validation_batch_end", "epoch_end"};
#define POINTS (sizeof points / sizeof *points)

/* A run that was never stopped, and the directory of one that ends before its time. */
struct pair {
    struct scratch scratch;
    struct outcome expected;
    char run[300];
};

static void begin_pair(struct pair *pair) {
    scratch_init_fast(&pair->scratch);
    pair->expected = turn(experiment, scratch_path(&pair->scratch, "whole"), 1, NULL);
    assert_int_equal(pair->expected.status, LATHE_OK);
    snprintf(pair->run, sizeof pair->run, "%s/ended", pair->scratch.directory);
}

static void end_pair(struct pair *pair) {
    finish(&pair->expected);
    scratch_finish(&pair->scratch);
}

/* It ends as it should, … */
static void end_run(const struct pair *pair, const char *const *overrides,
                    lathe_status status, const char *reason, const char *where) {
    struct outcome found = turn(experiment, pair->run, 1, overrides);
    if (found.status != status || strcmp(found.reason, reason) != 0)
        fail_msg("%s: status %d, %s: %s", where, found.status, found.reason,
                 found.error.what);
    if (status < 0 && !strstr(found.error.where, where))
        fail_msg("%s is not where: %s", where, found.error.where);
    finish(&found);
}

/* … and goes on to what the other came to. */
static void go_on(struct pair *pair, const char *const *overrides, const char *when) {
    struct outcome found = turn(NULL, pair->run, 1, overrides);
    assert_same(&pair->expected, &found, when);
    finish(&found);
    scratch_run(&pair->scratch, "rm -rf ended");
}

/* Ends a run by what chaos does at a point, then resumes it without. */
static void end_and_resume(const char *act, lathe_status status, const char *reason) {
    struct pair pair;
    char point[64], does[64];
    begin_pair(&pair);
    snprintf(does, sizeof does, "callbacks.chaos.act=%s", act);
    for (size_t i = 0; i < POINTS; i++) {
        const char *ended[] = {does, point, "callbacks.chaos.at=7", NULL};
        snprintf(point, sizeof point, "callbacks.chaos.point=%s", points[i]);
        if (!strcmp(points[i], "run_begin")) ended[2] = "callbacks.chaos.at=0";
        end_run(&pair, ended, status, reason, points[i]);
        go_on(&pair, calm, point);
    }
    end_pair(&pair);
}

static void a_callback_fails_anywhere(void **state) {
    (void)state;
    end_and_resume("fail", LATHE_EPLUGIN, "failed");
}

static void a_callback_asks_to_stop_anywhere(void **state) {
    (void)state;
    end_and_resume("request-stop", LATHE_OK, "stopped");
}

/* ---- a stop from outside ---- */

struct stopper {
    lathe_session *session;
    const char *line; /* of the trace: at the n-th that begins so … */
    int left;         /* … a stop is asked for */
};

static void stop_at(void *context, const char *line) {
    struct stopper *stopper = context;
    const char *found = strstr(line, stopper->line);
    if (found && stopper->left-- == 0 && stopper->session)
        lathe_stop(stopper->session, "preempted");
}

static lathe_status turn_stopped(const char *run, const char *line, int nth) {
    struct stopper stopper = {.line = line, .left = nth};
    const lathe_session_options options = {.size = sizeof options,
                                           .experiment = experiment,
                                           .plugin_paths = plugin_places(),
                                           .run_directory = run,
                                           .trace = stop_at,
                                           .context = &stopper};
    lathe_error error = {.size = sizeof error};
    if (lathe_open(&options, &stopper.session, &error) != LATHE_OK)
        fail_msg("%s; %s", error.what, error.where);
    lathe_status status = lathe_run(stopper.session);
    assert_string_equal(lathe_reason(stopper.session), "preempted");
    lathe_close(stopper.session);
    return status;
}

static void stopped_from_outside_anywhere(void **state) {
    static const char *const calls[] = {"read", "forward", "backward", "step",
                                        "validation"};
    struct pair pair;
    (void)state;
    begin_pair(&pair);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int nth = 0; nth < 12; nth += 5) {
            assert_int_equal(turn_stopped(pair.run, calls[i], nth), LATHE_OK);
            go_on(&pair, NULL, calls[i]);
        }
    end_pair(&pair);
}

/* ---- data that cannot be read ---- */

static void a_dataset_fails(void **state) {
    static const char *const broken[] = {"data.train.fail_at=11", NULL};
    static const char *const mended[] = {"data.train.fail_at=1000", NULL};
    struct pair pair;
    (void)state;
    begin_pair(&pair);
    struct outcome found = turn(experiment, pair.run, 1, broken);
    assert_true(found.status < 0);
    assert_string_equal(found.reason, "failed");
    finish(&found);
    scratch_run(&pair.scratch, "test -e ended/checkpoints/last.safetensors");
    turns_flags = LATHE_ALLOW_CHANGE;
    go_on(&pair, mended, "data.train.fail_at");
    turns_flags = 0;
    end_pair(&pair);
}

/* ---- what is not finite ---- */

static void not_finite_stops_before_the_update(void **state) {
    static const char *const nan[] = {"callbacks.chaos.act=nan-gradients",
                                      "callbacks.chaos.point=gradients_ready",
                                      "callbacks.chaos.at=9", NULL};
    struct pair pair;
    (void)state;
    begin_pair(&pair);
    struct outcome found = turn(experiment, pair.run, 1, nan);
    assert_int_equal(found.status, LATHE_EGATE);
    assert_string_equal(found.reason, "nonfinite");
    assert_int_equal(found.step, 9);
    finish(&found);
    go_on(&pair, calm, "nan");
    end_pair(&pair);
}

/* One sample of an epoch makes its window infinite; the epoch has five. */
static const char poisoned[] =
    "{ \"lathe\": 1, \"name\": \"poisoned\", \"seed\": 5,"
    "  \"data\": { \"train\": { \"use\": \"ids\", \"count\": 10,"
    "    \"inputs\": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1e30] } },"
    "  \"model\": { \"use\": \"scalar\", \"square\": true, \"start\": 3 },"
    "  \"optimizer\": { \"use\": \"sgd\", \"lr\": 0.05 },"
    "  \"train\": { \"until\": \"6ep\", \"batch\": 2, \"nonfinite\": \"skip\" } }";

static void not_finite_is_skipped(void **state) {
    static const char *const steps[] = {"train.until=20step", NULL};
    static const char *const always[] = {"data.train.inputs=[1e30]",
                                         "train.until=1000step", NULL};
    struct scratch scratch;
    (void)state;
    scratch_init_fast(&scratch);
    struct outcome epochs = turn(poisoned, scratch_path(&scratch, "a"), 1, NULL);
    assert_int_equal(epochs.status, LATHE_OK);
    assert_int_equal(epochs.step,
                     6 * 4); /* five windows an epoch, one of them skipped */
    assert_non_null(strstr(epochs.metrics, "e+")); /* the loss is logged as it is */
    finish(&epochs);
    struct outcome counted = turn(poisoned, scratch_path(&scratch, "b"), 1, steps);
    assert_int_equal(counted.step, 20);
    finish(&counted);
    struct outcome all = turn(poisoned, scratch_path(&scratch, "c"), 1, always);
    assert_int_equal(all.status, LATHE_EGATE);
    assert_int_equal(all.step, 0);
    assert_non_null(strstr(all.error.what, "100 windows in a row"));
    finish(&all);
    scratch_finish(&scratch);
}

/* ---- going on with something else ---- */

static void a_changed_batch_is_refused(void **state) {
    static const char *const few[] = {"train.until=6step", NULL};
    static const char *const other[] = {"train.batch=4", NULL};
    static const char *const longer[] = {"train.until=4ep", NULL};
    struct pair pair;
    (void)state;
    begin_pair(&pair);
    struct outcome found = turn(experiment, pair.run, 1, few);
    assert_string_equal(found.reason, "completed");
    finish(&found);
    found = turn(NULL, pair.run, 1, other);
    assert_int_equal(found.status, LATHE_EINVAL);
    assert_non_null(strstr(found.error.what, "train.batch: 2 -> 4"));
    finish(&found);
    go_on(&pair, longer, "longer"); /* no schedule depends on it */
    end_pair(&pair);
}

static void a_stopped_run_trains_on_when_callbacks_change(void **state) {
    static const char *const impatient[] = {"callbacks.early-stopping.patience=1",
                                            "callbacks.early-stopping.min_delta=100",
                                            NULL};
    static const char *const patient[] = {"callbacks.early-stopping.patience=40",
                                          "callbacks.early-stopping.min_delta=0", NULL};
    struct scratch scratch;
    (void)state;
    scratch_init_fast(&scratch);
    const char *run = scratch_path(&scratch, "ended");
    struct outcome stopped = turn(experiment, run, 1, impatient);
    assert_string_equal(stopped.reason, "stopped");
    struct outcome again = turn(NULL, run, 1, NULL);
    assert_same(&stopped, &again, "again");
    struct outcome on = turn(NULL, run, 1, patient);
    assert_string_equal(on.reason, "completed");
    assert_int_equal(on.step, 20);
    finish(&stopped);
    finish(&again);
    finish(&on);
    scratch_finish(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_callback_fails_anywhere),
        cmocka_unit_test(a_callback_asks_to_stop_anywhere),
        cmocka_unit_test(stopped_from_outside_anywhere),
        cmocka_unit_test(a_dataset_fails),
        cmocka_unit_test(not_finite_stops_before_the_update),
        cmocka_unit_test(not_finite_is_skipped),
        cmocka_unit_test(a_changed_batch_is_refused),
        cmocka_unit_test(a_stopped_run_trains_on_when_callbacks_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
