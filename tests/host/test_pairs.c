/* SPDX-License-Identifier: MIT */
/* labels: no-tsan */
/* What works alone works together: each pair of accumulation, clipping, shards, stages,
 * averages, groups, skipping and a short last window. A run with both is the same on
 * two threads and after a kill, and what is told to change nothing changes nothing. */
#include <math.h>

#include "support/scratch.h"
#include "support/test.h"
#include "support/turns.h"

/* 45 samples: with 16 to a step, the last window of an epoch is short. */
static const char experiment[] =
    "{ \"lathe\": 1, \"name\": \"pair\", \"seed\": 11,"
    "  \"data\": {"
    "    \"train\": { \"use\": \"subset\", \"range\": [0, 48],"
    "      \"of\": { \"use\": \"blobs\", \"samples\": 60, \"features\": 4 } },"
    "    \"validation\": { \"use\": \"blobs\", \"samples\": 21, \"features\": 4 } },"
    "  \"model\": { \"use\": \"mlp\", \"hidden\": [6] },"
    "  \"optimizer\": { \"use\": \"sgd\", \"lr\": 0.2, \"momentum\": 0.9 },"
    "  \"train\": { \"until\": \"4ep\", \"batch\": 16, \"log\": \"2step\" },"
    "  \"callbacks\": [ { \"use\": \"csv\" },"
    "    { \"use\": \"checkpoint\", \"every\": \"2step\" },"
    "    { \"use\": \"chaos\", \"act\": \"none\" } ] }";

static const struct feature {
    const char *name;
    const char *overrides[3];
} features[] = {
    {"accumulate", {"train.batch=4", "train.accumulate=4"}},
    {"clip", {"train.clip_norm=0.3"}},
    {"shards", {"train.shards=3"}},
    {"stages",
     {"stages=[{}, {\"train\": {\"only\": \"layers.1.*\", \"until\": \"3step\"}}]"}},
    {"ema",
     {"callbacks=[{\"use\": \"ema\", \"decay\": 0.9}, {\"use\": \"csv\"}, {\"use\": "
      "\"checkpoint\", \"every\": \"2step\"}, {\"use\": \"chaos\", \"act\": "
      "\"none\"}]"}},
    {"groups",
     {"optimizer.groups=[{\"match\": \"*.bias\", \"lr\": 0.05, \"momentum\": 0}]"}},
    {"skip", {"train.nonfinite=skip"}},
    {"short window", {"data.train.range=[0, 45]"}},
};
#define FEATURES (sizeof features / sizeof *features)

static int add(const char **list, int count, const struct feature *feature) {
    for (int i = 0; i < 3 && feature->overrides[i]; i++)
        list[count++] = feature->overrides[i];
    return count;
}

static void try_pair(const struct feature *a, const struct feature *b) {
    struct scratch scratch;
    const char *both[OVERRIDES_MAX + 4] = {NULL}, *killed[OVERRIDES_MAX + 4] = {NULL};
    const char *calm[] = {"callbacks.chaos.act=none", NULL};
    char when[64];
    int count = add(both, 0, a);
    if (b != a) count = add(both, count, b);
    memcpy(killed, both, sizeof both);
    killed[count++] = "callbacks.chaos.act=kill";
    killed[count++] = "callbacks.chaos.point=step_end";
    killed[count++] = "callbacks.chaos.at=7";
    snprintf(when, sizeof when, "%s and %s", a->name, b->name);
    scratch_init_fast(&scratch);
    struct outcome expected = turn(experiment, scratch_path(&scratch, "one"), 1, both);
    if (expected.status != LATHE_OK)
        fail_msg("%s: %s; %s", when, expected.error.what, expected.error.where);
    struct outcome found = turn(experiment, scratch_path(&scratch, "two"), 2, both);
    assert_same(&expected, &found, when);
    finish(&found);
    run_killed(experiment, scratch_path(&scratch, "three"), 2, killed);
    found = turn(NULL, scratch_path(&scratch, "three"), 1, calm);
    assert_same(&expected, &found, when);
    finish(&found);
    finish(&expected);
    scratch_finish(&scratch);
}

static void every_pair_on_threads_and_after_a_kill(void **state) {
    (void)state;
    for (size_t a = 0; a < FEATURES; a++)
        for (size_t b = a; b < FEATURES; b += IS_SANITIZED ? 3 : 1)
            try_pair(&features[a], &features[b]);
}

static struct outcome turn_with(struct scratch *scratch, const char *name,
                                const struct feature *feature, const char *batch,
                                const char *accumulate) {
    const char *list[OVERRIDES_MAX] = {NULL};
    int count = add(list, 0, feature);
    list[count++] = batch;
    list[count] = accumulate;
    struct outcome outcome = turn(experiment, scratch_path(scratch, name), 1, list);
    if (outcome.status != LATHE_OK)
        fail_msg("%s: %s; %s", feature->name, outcome.error.what, outcome.error.where);
    return outcome;
}

/* Four micro-batches of 4 are one of 16, whatever else is on. */
static void accumulation_is_a_big_batch_with_each(void **state) {
    (void)state;
    for (size_t i = 1; i < FEATURES; i++) {
        struct scratch scratch;
        scratch_init_fast(&scratch);
        struct outcome big = turn_with(&scratch, "big", &features[i], "train.batch=16",
                                       "train.accumulate=1");
        struct outcome many = turn_with(&scratch, "many", &features[i], "train.batch=4",
                                        "train.accumulate=4");
        assert_int_equal(big.step, many.step);
        for (int64_t k = 0; k < big.count; k++)
            if (!(fabsf(big.weights[k] - many.weights[k]) < 2e-5F))
                fail_msg("%s: weight %lld is %.9g, and %.9g in one batch",
                         features[i].name, (long long)k, (double)many.weights[k],
                         (double)big.weights[k]);
        finish(&big);
        finish(&many);
        scratch_finish(&scratch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_on_threads_and_after_a_kill),
        cmocka_unit_test(accumulation_is_a_big_batch_with_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
