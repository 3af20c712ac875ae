/* SPDX-License-Identifier: MIT */
/* labels: no-tsan no-valgrind */
/* A run that is killed anywhere and goes on ends in the same bits as one that never
 * stopped: weights, metrics.jsonl, the files of callbacks. */
#include "support/scratch.h"
#include "support/test.h"

#include "support/turns.h"

/* 26 samples in micro-batches of 2, three to a window: 13 micro-batches, the last
 * window of an epoch holds one; 8 epochs are 40 steps. */
static const char experiment[] =
    "{ \"lathe\": 1, \"name\": \"killed\", \"seed\": 7,"
    "  \"data\": {"
    "    \"train\": { \"use\": \"ids\", \"count\": 26, \"inputs\": [1, 2, 0.5],"
    "                 \"noise\": 0.25 },"
    "    \"validation\": { \"use\": \"ids\", \"count\": 7, \"inputs\": [1, 3] },"
    "    \"test\": { \"use\": \"ids\", \"count\": 5, \"inputs\": [2] } },"
    "  \"model\": { \"use\": \"scalar\", \"square\": true, \"start\": 3 },"
    "  \"optimizer\": { \"use\": \"adamw\", \"lr\": 0.05 },"
    "  \"schedule\": { \"use\": \"plateau\", \"watch\": \"validation/loss\","
    "                  \"patience\": 1, \"factor\": 0.7, \"threshold\": 0.2 },"
    "  \"train\": { \"until\": \"8ep\", \"batch\": 2, \"accumulate\": 3, \"shards\": 2,"
    "               \"clip_norm\": 2, \"validate\": \"4step\", \"log\": \"3step\" },"
    "  \"callbacks\": ["
    "    { \"use\": \"ema\", \"decay\": 0.8 },"
    "    { \"use\": \"early-stopping\", \"patience\": 6, \"min_delta\": 0.3 },"
    "    { \"use\": \"csv\" },"
    "    { \"use\": \"checkpoint\", \"every\": \"1step\", \"best\": "
    "\"validation/loss\" },"
    "    { \"use\": \"chaos\", \"act\": \"none\" } ] }";

static const char *const points[] = {"step_end", "batch_begin", "gradients_ready",
                                     "loss_ready", "step_begin"};
#define POINTS (sizeof points / sizeof *points)

static void kill_at_every_step(int threads, const char *every) {
    struct scratch scratch;
    char pace[64], point[64], at[64], when[256];
    scratch_init_fast(&scratch);
    snprintf(pace, sizeof pace, "callbacks.checkpoint.every=%s", every);
    const char *plain[] = {pace, NULL};
    struct outcome expected =
        turn(experiment, scratch_path(&scratch, "whole"), threads, plain);
    if (expected.status != LATHE_OK || expected.step < 30)
        fail_msg("status %d at step %lld: %s; %s", expected.status,
                 (long long)expected.step, expected.error.what, expected.error.where);
    for (int step = 0; step < expected.step; step += IS_SANITIZED ? 5 : 1) {
        snprintf(point, sizeof point, "callbacks.chaos.point=%s",
                 points[(size_t)step % POINTS]);
        snprintf(at, sizeof at, "callbacks.chaos.at=%d", step);
        snprintf(when, sizeof when, "%s, %s, %d threads, a checkpoint each %s", point,
                 at, threads, every);
        const char *killed[] = {pace, point, at, "callbacks.chaos.act=kill", NULL};
        const char *calm[] = {"callbacks.chaos.act=none", NULL};
        const char *run = scratch_path(&scratch, "killed");
        run_killed(experiment, run, threads, killed);
        struct outcome found = turn(NULL, run, 3 - threads, calm);
        assert_same(&expected, &found, when);
        finish(&found);
        scratch_run(&scratch, "rm -rf killed");
    }
    finish(&expected);
    scratch_finish(&scratch);
}

static void killed_at_every_step_with_a_checkpoint_each(void **state) {
    (void)state;
    kill_at_every_step(1, "1step");
}

static void killed_at_every_step_with_few_checkpoints(void **state) {
    (void)state;
    kill_at_every_step(2, "7step");
}

/* Killed again and again, each time a little later, and once in each validation. */
static void killed_over_and_over(void **state) {
    static const char *const places[] = {"validation_begin", "validation_batch_end",
                                         "validation_end", "epoch_end", "epoch_begin"};
    struct scratch scratch;
    (void)state;
    scratch_init_fast(&scratch);
    struct outcome expected =
        turn(experiment, scratch_path(&scratch, "whole"), 1, NULL);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char point[64], at[64];
        const char *run = scratch_path(&scratch, "killed");
        const char *killed[] = {point, at, "callbacks.chaos.act=kill", NULL};
        const char *calm[] = {"callbacks.chaos.act=none", NULL};
        snprintf(point, sizeof point, "callbacks.chaos.point=%s", places[i]);
        for (int step = 1; step < 24; step += 9) {
            snprintf(at, sizeof at, "callbacks.chaos.at=%d", step);
            run_killed(step > 1 ? NULL : experiment, run, 1, killed);
        }
        struct outcome found = turn(NULL, run, 2, calm);
        assert_same(&expected, &found, point);
        finish(&found);
        scratch_run(&scratch, "rm -rf killed");
    }
    finish(&expected);
    scratch_finish(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_every_step_with_a_checkpoint_each),
        cmocka_unit_test(killed_at_every_step_with_few_checkpoints),
        cmocka_unit_test(killed_over_and_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
