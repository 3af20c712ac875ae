/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <math.h>

#include "metrics.h"

static struct metrics *make(void) {
    struct metrics *m = NULL;
    assert_int_equal(metrics_create(&m, NULL), LATHE_OK);
    metrics_open_split(m, SPLIT_TRAIN);
    metrics_open_split(m, SPLIT_VALIDATION);
    return m;
}

static double value(const struct metrics *m, const char *name) {
    lathe_metric_view view = {.size = sizeof view};
    int32_t at = metrics_find(m, name);
    if (at < 0) return -1;
    metrics_view(m, at, &view);
    return view.value;
}

static void means_are_weighted(void **state) {
    (void)state;
    struct metrics *m = make();
    metrics_add(m, SPLIT_VALIDATION, METRICS_LOSS, 4 * 1.0, 4);
    metrics_add(m, SPLIT_VALIDATION, METRICS_LOSS, 4 * 1.0, 4);
    metrics_add(m, SPLIT_VALIDATION, METRICS_LOSS, 1 * 9.0, 1);
    metrics_settle(m, SPLIT_VALIDATION, 7);
    assert_true(value(m, "validation/loss") == 17.0 / 9.0);
    assert_true(isnan(value(m, "train/loss")));
    metrics_destroy(m);
}

static void training_has_a_record_and_an_epoch(void **state) {
    (void)state;
    struct metrics *m = make();
    metrics_add(m, SPLIT_TRAIN, METRICS_LOSS, 1, 1);
    metrics_settle(m, SPLIT_TRAIN, 1);
    metrics_add(m, SPLIT_TRAIN, METRICS_LOSS, 4, 1);
    metrics_settle(m, SPLIT_TRAIN, 2);
    assert_true(value(m, "train/loss") == 4);
    metrics_settle_epoch(m, 2);
    assert_true(value(m, "train/loss") == 2.5);
    metrics_restart(m, SPLIT_TRAIN);
    metrics_add(m, SPLIT_TRAIN, METRICS_LOSS, 6, 2);
    metrics_settle_epoch(m, 3);
    assert_true(value(m, "train/loss") == 3);
    metrics_destroy(m);
}

static void names_are_found_where_a_split_is_open(void **state) {
    (void)state;
    struct metrics *m = make();
    struct error err;
    assert_int_equal(metrics_declare(m, "accuracy", LATHE_HIGHER_IS_BETTER, &err), 1);
    assert_int_equal(metrics_declare(m, "loss", 0, &err), -1);
    assert_string_equal(err.what, "metric \"loss\" is declared twice");
    assert_int_equal(metrics_declare(m, "a/b", 0, &err), -1);
    assert_true(metrics_find(m, "train/accuracy") >= 0);
    assert_int_equal(metrics_find(m, "test/accuracy"), -1);
    assert_int_equal(metrics_find(m, "accuracy"), -1);
    int count = 0;
    while (metrics_at(m, count) >= 0) count++;
    assert_int_equal(count, 4);
    metrics_destroy(m);
}

static void records_never_hide_what_is_not_finite(void **state) {
    (void)state;
    struct metrics *m = make();
    struct text text = {0};
    metrics_declare(m, "a", 0, NULL);
    metrics_declare(m, "b", 0, NULL);
    metrics_add(m, SPLIT_TRAIN, METRICS_LOSS, NAN, 2);
    metrics_add(m, SPLIT_TRAIN, 1, -INFINITY, 2);
    metrics_add(m, SPLIT_TRAIN, 2, 1, 10);
    metrics_settle(m, SPLIT_TRAIN, 3);
    metrics_write(m, SPLIT_TRAIN, 3, &text);
    assert_string_equal(text.data, ",\"metrics\":{\"loss\":null,\"a\":null,"
                                   "\"b\":0.10000000000000001},"
                                   "\"nonfinite\":{\"loss\":\"nan\",\"a\":\"-inf\"}");
    text_finish(&text);
    metrics_destroy(m);
}

static void exponential_metrics_are_of_the_mean(void **state) {
    (void)state;
    struct metrics *m = make();
    int32_t p = metrics_declare(m, "perplexity", LATHE_METRIC_EXP, NULL);
    metrics_add(m, SPLIT_TRAIN, p, 6, 2);
    metrics_settle(m, SPLIT_TRAIN, 1);
    assert_true(fabs(value(m, "train/perplexity") - exp(3)) < 1e-12);
    metrics_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_weighted),
        cmocka_unit_test(training_has_a_record_and_an_epoch),
        cmocka_unit_test(names_are_found_where_a_split_is_open),
        cmocka_unit_test(records_never_hide_what_is_not_finite),
        cmocka_unit_test(exponential_metrics_are_of_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
