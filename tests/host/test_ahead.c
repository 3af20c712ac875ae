/* SPDX-License-Identifier: MIT */
/* Reading ahead changes no bit: not of a run, not of an error, not of where either is
 * taken up again. */
#include "support/scratch.h"
#include "support/test.h"
#include "support/turns.h"

/* 26 samples: 13 micro-batches of 2, or 6 of 4 and one of 2. */
#define EXPERIMENT(stages)                                                             \
    "{ \"lathe\": 1, \"name\": \"ahead\", \"seed\": 7,"                                \
    "  \"data\": {"                                                                    \
    "    \"train\": { \"use\": \"slow\", \"of\": { \"use\": \"ids\", \"count\": 26,"   \
    "                 \"inputs\": [1, 2, 0.5], \"noise\": 0.25 } },"                   \
    "    \"validation\": { \"use\": \"ids\", \"count\": 7, \"inputs\": [1, 3] } },"    \
    "  \"model\": { \"use\": \"scalar\", \"square\": true, \"start\": 3 },"            \
    "  \"optimizer\": { \"use\": \"adamw\", \"lr\": 0.05 },"                           \
    "  \"train\": { \"until\": \"2ep\", \"batch\": 2, \"validate\": \"4step\","        \
    "               \"log\": \"1step\" }," stages "  \"callbacks\": ["                 \
    "    { \"use\": \"csv\" }, { \"use\": \"ema\", \"decay\": 0.8 },"                  \
    "    { \"use\": \"checkpoint\", \"every\": \"1step\" },"                           \
    "    { \"use\": \"chaos\", \"act\": \"none\" } ] }"

static const char experiment[] = EXPERIMENT("");
static const char staged[] =
    EXPERIMENT("\"stages\": [{ \"train\": { \"until\": \"9step\", \"batch\": 4,"
               "\"accumulate\": 2 }, \"optimizer\": { \"lr\": 0.01 } }],");

#define ON "train.prefetch=true"
#define OFF "train.prefetch=false"

/* A run in a directory of that name, whose first override is ON or OFF. */
static struct outcome run(struct scratch *scratch, const char *text, const char *name,
                          int threads, const char *const *overrides) {
    if (text) scratch_run(scratch, "rm -rf on off");
    struct outcome outcome =
        turn(text, scratch_path(scratch, name), threads, overrides);
    return outcome;
}

static void compare(struct scratch *scratch, const char *text, int threads,
                    const char *accumulate, const char *shards, const char *batch) {
    const char *off[] = {OFF, accumulate, shards, batch, NULL};
    const char *on[] = {ON, accumulate, shards, batch, NULL};
    char when[256];
    snprintf(when, sizeof when, "%s %s %s, %d threads", accumulate, shards, batch,
             threads);
    struct outcome expected = run(scratch, text, "off", 1, off);
    struct outcome found = run(scratch, text, "on", threads, on);
    assert_int_equal(expected.status, LATHE_OK);
    assert_same(&expected, &found, when);
    finish(&expected);
    finish(&found);
}

static void no_bit_of_a_run_depends_on_it(void **state) {
    static const char *const accumulate[] = {"train.accumulate=1",
                                             "train.accumulate=3"};
    static const char *const shards[] = {"train.shards=1", "train.shards=2"};
    static const char *const batches[] = {"train.batch=2", "train.batch=4",
                                          "train.batch=26"};
    struct scratch scratch;
    (void)state;
    scratch_init_fast(&scratch);
    for (int threads = 1; threads <= 2; threads++)
        for (int a = 0; a < 2; a++)
            for (int s = 0; s < 2; s++)
                for (int b = 0; b < 3; b++)
                    compare(&scratch, b == 2 ? staged : experiment, threads,
                            accumulate[a], shards[s], batches[b]);
    compare(&scratch, staged, 2, "train.accumulate=2", "train.shards=3",
            "train.batch=4");
    scratch_finish(&scratch);
}

/* The n-th read goes wrong: the same error, and the same run once it no longer does. */
static void break_at(struct scratch *scratch, struct outcome *whole, int n,
                     const char *act) {
    char at[64], how[64];
    snprintf(at, sizeof at, "data.train.at=%d", n);
    snprintf(how, sizeof how, "data.train.act=%s", act);
    const char *off[] = {OFF, at, how, "train.accumulate=3", "train.shards=2", NULL};
    const char *on[] = {ON, at, how, "train.accumulate=3", "train.shards=2", NULL};
    const char *mended[] = {OFF, "data.train.at=0", NULL};
    struct outcome expected = run(scratch, experiment, "on", 1, off);
    struct outcome found = run(scratch, experiment, "on", 1, on);
    assert_true(expected.status < 0);
    assert_same(&expected, &found, at);
    assert_string_equal(found.error.what, expected.error.what);
    assert_string_equal(found.error.where, expected.error.where);
    assert_string_equal(found.error.help, expected.error.help);
    assert_int_equal(found.step, expected.step);
    finish(&expected);
    finish(&found);
    found = run(scratch, NULL, "on", 1, mended);
    assert_same(whole, &found, at);
    finish(&found);
}

static void errors_come_in_their_turn(void **state) {
    struct scratch scratch;
    const char *off[] = {OFF, "train.accumulate=3", "train.shards=2", NULL};
    (void)state;
    scratch_init_fast(&scratch);
    turns_flags = LATHE_ALLOW_CHANGE;
    struct outcome whole = run(&scratch, experiment, "off", 1, off);
    for (int n = 1; n <= 52; n += IS_SANITIZED ? 7 : 1)
        break_at(&scratch, &whole, n, "fail");
    break_at(&scratch, &whole, 9, "fail-silently");
    break_at(&scratch, &whole, 9, "report");
    finish(&whole);
    turns_flags = 0;
    scratch_finish(&scratch);
}

static void what_no_turn_comes_to_is_not_told(void **state) {
    struct scratch scratch;
    const char *on[] = {ON, "data.train.at=4", "callbacks.chaos.act=request-stop",
                        "callbacks.chaos.at=3", NULL};
    (void)state;
    scratch_init_fast(&scratch);
    struct outcome stopped = run(&scratch, experiment, "on", 1, on);
    assert_int_equal(stopped.status, LATHE_OK);
    assert_string_equal(stopped.reason, "stopped");
    assert_int_equal(stopped.step, 3);
    finish(&stopped);
    scratch_finish(&scratch);
}

static void take_step(lathe_session *s) {
    assert_int_equal(lathe_step_begin(s), LATHE_OK);
    assert_int_equal(lathe_batch_begin(s), LATHE_OK);
    assert_int_equal(lathe_forward(s), LATHE_OK);
    assert_int_equal(lathe_backward(s), LATHE_OK);
    assert_int_equal(lathe_batch_begin(s), LATHE_END);
    assert_int_equal(lathe_reduce(s), LATHE_OK);
    assert_int_equal(lathe_update(s), LATHE_OK);
}

/* A loop of somebody's own leaves the epoch when the third read went wrong. */
static void an_epoch_that_is_left_is_forgotten(void **state) {
    static const char *const acts[] = {"data.train.act=report", "data.train.act=fail"};
    struct scratch scratch;
    (void)state;
    scratch_init_fast(&scratch);
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        const char *overrides[] = {ON, "data.train.at=3", acts[i], NULL};
        lathe_session *s = NULL;
        lathe_error error = {.size = sizeof error};
        scratch_run(&scratch, "rm -rf on");
        assert_int_equal(open_run(&s, experiment, scratch_path(&scratch, "on"), false,
                                  overrides, &error),
                         LATHE_OK);
        assert_int_equal(lathe_run_begin(s), LATHE_OK);
        assert_int_equal(lathe_stage_begin(s), LATHE_OK);
        assert_int_equal(lathe_epoch_begin(s), LATHE_OK);
        take_step(s);
        take_step(s);
        assert_int_equal(lathe_epoch_begin(s), LATHE_OK);
        take_step(s);
        assert_int_equal(lathe_now(s)->epoch, 2);
        assert_int_equal(lathe_run_end(s, LATHE_STOP), LATHE_OK);
        lathe_close(s);
    }
    scratch_finish(&scratch);
}

static void a_stop_anywhere_is_taken_up(void **state) {
    static const char *const points[] = {"step_begin", "batch_begin", "loss_ready",
                                         "batch_end",  "step_end",    "validation_end",
                                         "epoch_end"};
    struct scratch scratch;
    const char *off[] = {OFF, "train.accumulate=3", "train.shards=2", NULL};
    (void)state;
    scratch_init_fast(&scratch);
    struct outcome whole = run(&scratch, experiment, "off", 1, off);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        for (int step = (int)i % 2; step < 10; step += IS_SANITIZED ? 4 : 2) {
            char point[64], at[64];
            const char *on[] = {ON,
                                "train.accumulate=3",
                                "train.shards=2",
                                point,
                                at,
                                "callbacks.chaos.act=request-stop",
                                NULL};
            const char *mended[] = {step % 4 < 2 ? ON : OFF, "callbacks.chaos.act=none",
                                    NULL};
            snprintf(point, sizeof point, "callbacks.chaos.point=%s", points[i]);
            snprintf(at, sizeof at, "callbacks.chaos.at=%d", step);
            struct outcome stopped = run(&scratch, experiment, "on", 1, on);
            assert_int_equal(stopped.status, LATHE_OK);
            finish(&stopped);
            struct outcome found = run(&scratch, NULL, "on", 2, mended);
            assert_same(&whole, &found, point);
            finish(&found);
        }
    finish(&whole);
    scratch_finish(&scratch);
}

/* The loop comes before the thread is done, and its workers read the other slices; and
 * the other way round. */
static void whoever_is_faster_the_bits_are_the_same(void **state) {
    static const char *const paces[] = {"data.train.spin=0", "data.train.spin=300"};
    struct scratch scratch;
    (void)state;
    scratch_init_fast(&scratch);
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++) {
        const char *off[] = {OFF, "train.batch=8", "train.shards=8", NULL};
        const char *on[] = {ON, "train.batch=8", "train.shards=8", paces[i], NULL};
        struct outcome expected = run(&scratch, experiment, "off", 1, off);
        for (int threads = 1; threads <= 3; threads++) {
            struct outcome found = run(&scratch, experiment, "on", threads, on);
            assert_same(&expected, &found, paces[i]);
            finish(&found);
        }
        finish(&expected);
    }
    scratch_finish(&scratch);
}

/* Long enough for both ways to be tried, and one chosen. */
static void left_to_itself_it_changes_no_bit(void **state) {
    struct scratch scratch;
    const char *off[] = {OFF, "train.batch=1", "train.until=8ep",
                         "callbacks.checkpoint.every=50step", NULL};
    const char *on[] = {"train.prefetch=auto", "train.batch=1",
                        "train.until=8ep",     "callbacks.checkpoint.every=50step",
                        "data.train.spin=20",  NULL};
    (void)state;
    scratch_init_fast(&scratch);
    struct outcome expected = run(&scratch, experiment, "off", 1, off);
    struct outcome found = run(&scratch, experiment, "on", 1, on);
    assert_same(&expected, &found, "auto");
    finish(&expected);
    finish(&found);
    scratch_finish(&scratch);
}

#define IDS "{\"use\":\"ids\",\"count\":26}"

static void what_has_state_or_an_order_is_read_in_the_loop(void **state) {
    static const char *const uses[] = {
        "data.train={\"use\":\"backwards\",\"of\":" IDS "}",
        "data.train={\"use\":\"keeper\",\"of\":" IDS "}",
        "data.train={\"use\":\"slow\",\"of\":{\"use\":\"keeper\",\"of\":" IDS "}}"};
    struct scratch scratch;
    (void)state;
    scratch_init_fast(&scratch);
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        compare(&scratch, experiment, 1, uses[i], "train.shards=2", "train.batch=4");
    scratch_finish(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_bit_of_a_run_depends_on_it),
        cmocka_unit_test(errors_come_in_their_turn),
        cmocka_unit_test(what_no_turn_comes_to_is_not_told),
        cmocka_unit_test(an_epoch_that_is_left_is_forgotten),
        cmocka_unit_test(a_stop_anywhere_is_taken_up),
        cmocka_unit_test(whoever_is_faster_the_bits_are_the_same),
        cmocka_unit_test(left_to_itself_it_changes_no_bit),
        cmocka_unit_test(what_has_state_or_an_order_is_read_in_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
