/* SPDX-License-Identifier: MIT */
/* labels: no-tsan no-valgrind */
/* Stages: one training after another on the same weights, some of them frozen; and a
 * run that is killed on either side of a boundary. */
#include <math.h>

#include "support/scratch.h"
#include "support/test.h"
#include "support/turns.h"

#define DATA                                                                           \
    "  \"data\": {"                                                                    \
    "    \"train\": { \"use\": \"blobs\", \"samples\": 40, \"features\": 3 },"         \
    "    \"validation\": { \"use\": \"blobs\", \"samples\": 20, \"features\": 3 } },"  \
    "  \"model\": { \"use\": \"mlp\", \"hidden\": [5, 4] },"                           \
    "  \"callbacks\": [ { \"use\": \"ema\", \"decay\": 0.7 }, { \"use\": \"csv\" },"   \
    "    { \"use\": \"early-stopping\", \"patience\": 30 },"                           \
    "    { \"use\": \"checkpoint\", \"every\": \"1step\" },"                           \
    "    { \"use\": \"chaos\", \"act\": \"none\" } ]"

static const char staged[] =
    "{ \"lathe\": 1, \"seed\": 3," DATA ","
    "  \"optimizer\": { \"use\": \"adamw\", \"lr\": 0.02 },"
    "  \"train\": { \"until\": \"2ep\", \"batch\": 4, \"accumulate\": 3 },"
    "  \"stages\": ["
    "    { \"train\": { \"only\": \"layers.2.*\" } },"
    "    { \"train\": { \"until\": \"5step\", \"clip_norm\": 1, \"shards\": 2 },"
    "      \"schedule\": { \"use\": \"cosine\" }, \"optimizer\": { \"lr\": 0.01 } },"
    "    { \"train\": { \"until\": \"3ep\", \"batch\": 8, \"accumulate\": 1 },"
    "      \"optimizer\": { \"use\": \"sgd\", \"lr\": 0.1, \"momentum\": 0.9 } } ] }";

static lathe_session *open_text(const char *text, const char *const *overrides) {
    lathe_session *session = NULL;
    lathe_error error = {.size = sizeof error};
    const lathe_session_options options = {.size = sizeof options,
                                           .experiment = text,
                                           .overrides = overrides,
                                           .plugin_paths = plugin_places()};
    if (lathe_open(&options, &session, &error) != LATHE_OK)
        fail_msg("%s; %s", error.what, error.where);
    return session;
}

/* Values by name, since their places differ from stage to stage. */
static void copy_parameter(lathe_session *session, const char *name, float *to) {
    lathe_parameter_view view = {.size = sizeof view};
    const float *weights = lathe_weights(session, LATHE_READ, NULL);
    for (int64_t i = 0; lathe_parameter_at(session, i, &view) == LATHE_OK; i++)
        if (!strcmp(view.name, name)) {
            memcpy(to, weights + view.offset, (size_t)view.count * sizeof *to);
            return;
        }
    fail_msg("no parameter %s", name);
}

static void turn_stage(lathe_session *s) {
    assert_int_equal(lathe_stage_begin(s), LATHE_OK);
    while (lathe_epoch_begin(s) == LATHE_OK)
        while (lathe_step_begin(s) == LATHE_OK) {
            while (lathe_batch_begin(s) == LATHE_OK) {
                assert_int_equal(lathe_forward(s), LATHE_OK);
                assert_int_equal(lathe_backward(s), LATHE_OK);
            }
            assert_int_equal(lathe_reduce(s), LATHE_OK);
            assert_int_equal(lathe_update(s), LATHE_OK);
            if (lathe_is_due(s, LATHE_DUE_VALIDATION))
                assert_int_equal(lathe_validate(s), LATHE_OK);
            if (lathe_is_due(s, LATHE_DUE_EPOCH_END))
                assert_int_equal(lathe_epoch_end(s), LATHE_OK);
        }
}

static void a_frozen_trunk_keeps_its_bits(void **state) {
    float trunk[2][15], head[2][12];
    (void)state;
    lathe_session *s = open_text(staged, NULL);
    copy_parameter(s, "layers.0.weight", trunk[0]);
    copy_parameter(s, "layers.2.weight", head[0]);
    assert_int_equal(lathe_run_begin(s), LATHE_OK);
    turn_stage(s);
    copy_parameter(s, "layers.0.weight", trunk[1]);
    copy_parameter(s, "layers.2.weight", head[1]);
    assert_memory_equal(trunk[0], trunk[1], sizeof *trunk);
    assert_memory_not_equal(head[0], head[1], sizeof *head);
    turn_stage(s);
    copy_parameter(s, "layers.0.weight", trunk[1]);
    assert_memory_not_equal(trunk[0], trunk[1], sizeof *trunk);
    turn_stage(s);
    assert_int_equal(lathe_stage_begin(s), LATHE_END);
    /* 4 steps an epoch; 5 steps; 5 an epoch of larger batches */
    assert_int_equal(lathe_now(s)->step, 2 * 4 + 5 + 3 * 5);
    assert_int_equal(lathe_now(s)->epoch, 2 + 2 + 3);
    assert_int_equal(lathe_now(s)->stage, 3);
    assert_int_equal(lathe_run_end(s, LATHE_OK), LATHE_OK);
    lathe_close(s);
}

/* Two equal stages with slots kept are one of twice the length. */
static void slots_are_kept_where_asked(void **state) {
    static const char one[] =
        "{ \"lathe\": 1, \"seed\": 3," DATA ","
        "  \"optimizer\": { \"use\": \"sgd\", \"lr\": 0.02, \"momentum\": 0.9 },"
        "  \"train\": { \"until\": \"1ep\", \"batch\": 40 } }";
    static const char *const until[] = {"train.until=2ep", NULL};
    static const char *const kept[] = {"stages=[{}, {\"optimizer\": {\"keep\": true}}]",
                                       NULL};
    static const char *const fresh[] = {"stages=[{}, {}]", NULL};
    float weights[3][15];
    const char *const *const overrides[] = {until, kept, fresh};
    (void)state;
    for (int i = 0; i < 3; i++) {
        lathe_session *s = open_text(one, overrides[i]);
        assert_int_equal(lathe_run(s), LATHE_OK);
        assert_int_equal(lathe_now(s)->step, 2);
        copy_parameter(s, "layers.0.weight", weights[i]);
        lathe_close(s);
    }
    /* One batch holds all samples: their order, which differs, is that of a sum. */
    for (int k = 0; k < 15; k++)
        assert_true(fabsf(weights[0][k] - weights[1][k]) < 1e-6F);
    assert_memory_not_equal(weights[1], weights[2], sizeof *weights);
}

static void killed_across_boundaries(void **state) {
    struct scratch scratch;
    (void)state;
    scratch_init_fast(&scratch);
    struct outcome expected = turn(staged, scratch_path(&scratch, "whole"), 1, NULL);
    if (expected.status != LATHE_OK)
        fail_msg("%s; %s", expected.error.what, expected.error.where);
    for (int step = 0; step < expected.step; step += IS_SANITIZED ? 5 : 1) {
        char at[64];
        const char *run = scratch_path(&scratch, "killed");
        snprintf(at, sizeof at, "callbacks.chaos.at=%d", step);
        const char *killed[] = {"callbacks.chaos.act=kill",
                                step % 2 ? "callbacks.chaos.point=step_end"
                                         : "callbacks.chaos.point=batch_begin",
                                step % 3 ? "callbacks.checkpoint.every=1step"
                                         : "callbacks.checkpoint.every=5step",
                                at, NULL};
        const char *calm[] = {"callbacks.chaos.act=none", NULL};
        run_killed(staged, run, 1 + step % 2, killed);
        struct outcome found = turn(NULL, run, 1, calm);
        assert_same(&expected, &found, at);
        finish(&found);
        scratch_run(&scratch, "rm -rf killed");
    }
    finish(&expected);
    scratch_finish(&scratch);
}

static void keep_end(void *context, const char *json) {
    if (strstr(json, "\"event\":\"end\"")) snprintf(context, 512, "%s", json);
}

/* A stage may have fewer micro-batches in an epoch than the one before had gone
 * through, and an epoch of either is one. */
static void epochs_may_become_shorter(void **state) {
    static const char text[] = "{ \"lathe\": 1, \"seed\": 3," DATA ","
                               "  \"optimizer\": { \"use\": \"sgd\", \"lr\": 0.02 },"
                               "  \"train\": { \"until\": \"1ep\", \"batch\": 4 } }";
    static const struct {
        const char *stages, *end;
    } cases[] = {
        {"stages=[{}, {\"train\": {\"batch\": 20}}]", "\"epochs\":2,\"steps\":12,"},
        {"stages=[{\"train\": {\"batch\": 20}}, {}]", "\"epochs\":2,\"steps\":12,"},
        {"stages=[{\"train\": {\"until\": \"7step\"}}, {\"train\": {\"batch\": 40}}]",
         "\"epochs\":1,\"steps\":8,"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char end[512] = "";
        const char *overrides[] = {cases[i].stages, NULL};
        lathe_session *session = NULL;
        lathe_error error = {.size = sizeof error};
        const lathe_session_options options = {.size = sizeof options,
                                               .experiment = text,
                                               .overrides = overrides,
                                               .plugin_paths = plugin_places(),
                                               .record = keep_end,
                                               .context = end};
        assert_int_equal(lathe_open(&options, &session, &error), LATHE_OK);
        if (lathe_run(session) != LATHE_OK)
            fail_msg("%s: %s", cases[i].stages, lathe_last_error(session)->what);
        lathe_close(session);
        if (!strstr(end, cases[i].end)) fail_msg("%s: %s", cases[i].stages, end);
    }
}

static void errors_name_the_stage(void **state) {
    static const struct {
        const char *stages, *where;
    } cases[] = {
        {"stages=[{}, {\"optimizer\": {\"lrr\": 1}}]", "stages.1.optimizer.lrr"},
        {"stages=[{}, {\"model\": {\"use\": \"mlp\"}}]", "stages.1.model"},
        {"stages=[]", "stages"},
        {"stages=[{}, 3]", "stages.1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lathe_session *session = NULL;
        lathe_error error = {.size = sizeof error};
        const char *overrides[] = {cases[i].stages, NULL};
        const lathe_session_options options = {.size = sizeof options,
                                               .experiment = staged,
                                               .overrides = overrides,
                                               .plugin_paths = plugin_places()};
        assert_int_equal(lathe_open(&options, &session, &error), LATHE_EINVAL);
        if (!strstr(error.where, cases[i].where))
            fail_msg("%s: %s; %s", cases[i].stages, error.what, error.where);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frozen_trunk_keeps_its_bits),
        cmocka_unit_test(slots_are_kept_where_asked),
        cmocka_unit_test(killed_across_boundaries),
        cmocka_unit_test(epochs_may_become_shorter),
        cmocka_unit_test(errors_name_the_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
