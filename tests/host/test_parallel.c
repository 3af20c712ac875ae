/* SPDX-License-Identifier: MIT */
/* The same bits whatever the threads; the same mathematics whatever the shards, the
 * batch and the accumulation. On a real network. */
#include "support/test.h"

#include "support/runs.h"

#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char network[] =
    "{'lathe':1,'seed':3,'data':{"
    "'train':{'use':'blobs','samples':230,'features':20,'classes':5},"
    "'validation':{'use':'blobs','samples':57,'features':20,'classes':5}},"
    "'model':{'use':'mlp','hidden':[33,17]},"
    "'optimizer':{'use':'adamw','lr':0.01},"
    "'train':{'until':'3ep','batch':32,'shards':8,'clip_norm':1,'log':'1step'}}";

struct outcome {
    float *weights;
    int64_t count;
    char *records; /* all, joined */
    double loss;
};

static struct outcome train(const char *const *overrides) {
    struct run run;
    struct outcome outcome = {0};
    run_begin(&run, network, overrides);
    if (run.status != LATHE_OK) fail_msg("%s (%s)", run.error.what, run.error.where);
    const float *weights = lathe_weights(run.session, LATHE_READ, &outcome.count);
    outcome.weights = malloc((size_t)outcome.count * sizeof *weights);
    memcpy(outcome.weights, weights, (size_t)outcome.count * sizeof *weights);
    size_t length = 1;
    for (int i = 0; i < run.record_count; i++) length += strlen(run.records[i]) + 1;
    outcome.records = calloc(1, length);
    for (int i = 0; i < run.record_count; i++)
        strcat(strcat(outcome.records, run.records[i]), "\n");
    outcome.loss = run_value(&run, "validation/loss");
    run_finish(&run);
    return outcome;
}

static void finish(struct outcome *outcome) {
    free(outcome->weights);
    free(outcome->records);
}

static void threads_change_no_bit(void **state) {
    (void)state;
    struct outcome one = train(OVERRIDES("train.threads=1"));
    const char *const threads[] = {"train.threads=2", "train.threads=3",
                                   "train.threads=4", "train.threads=8"};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct outcome many = train(OVERRIDES(threads[i]));
        assert_int_equal(many.count, one.count);
        assert_memory_equal(many.weights, one.weights,
                            (size_t)one.count * sizeof *one.weights);
        assert_string_equal(many.records, one.records);
        finish(&many);
    }
    finish(&one);
}

static void shards_change_rounding_only(void **state) {
    (void)state;
    struct outcome eight = train(OVERRIDES("train.shards=8"));
    struct outcome one = train(OVERRIDES("train.shards=1"));
    assert_true(fabs(eight.loss - one.loss) < 1e-3 * one.loss);
    finish(&eight);
    finish(&one);
}

/* 230 samples: seven whole windows of 32 and a last one of 6. */
static void accumulation_equals_one_batch(void **state) {
    (void)state;
    const char *const common = "optimizer={\"use\":\"sgd\",\"lr\":0.05}";
    struct outcome whole = train(OVERRIDES(common, "train.shards=1"));
    struct outcome parts = train(
        OVERRIDES(common, "train.shards=1", "train.batch=8", "train.accumulate=4"));
    assert_true(whole.loss > 0);
    assert_true(fabs(parts.loss - whole.loss) <= 1e-6);
    finish(&whole);
    finish(&parts);
}

static void the_seed_decides(void **state) {
    (void)state;
    struct outcome a = train(NULL), b = train(NULL), other = train(OVERRIDES("seed=4"));
    assert_string_equal(a.records, b.records);
    assert_string_not_equal(a.records, other.records);
    finish(&a);
    finish(&b);
    finish(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(shards_change_rounding_only),
        cmocka_unit_test(accumulation_equals_one_batch),
        cmocka_unit_test(the_seed_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
