/* SPDX-License-Identifier: MIT */
/* When plateau lowers the rate, and what it keeps; long runs of values against torch's
 * ReduceLROnPlateau are in tests/golden. */
#include "support/bytes.h"
#include "support/fake_host.h"

#include "schedule/plateau/plateau.c"

struct fixture {
    struct fake_host host; /* first: a host's context is its fake */
    void *self;
    uint32_t flags; /* of the watched metric */
};

static lathe_status fixture_metric_at(const lathe_host *host, int64_t i,
                                      lathe_metric_view *view) {
    struct fixture *f = (struct fixture *)fake_of(host);
    if (i > 1) return LATHE_END;
    view->name = i == 0 ? "train/loss" : "validation/loss";
    view->flags = i == 0 ? 0 : f->flags;
    return LATHE_OK;
}

static void begin(struct fixture *f, const char *options) {
    memset(f, 0, sizeof *f);
    fake_host_init(&f->host, options);
    fake_host_manifest(&f->host, "schedule/plateau");
    f->host.table.metric_at = fixture_metric_at;
    assert_int_equal(lathe_ops_.create(&f->host.table, &f->self), LATHE_OK);
}

static void finish(struct fixture *f) {
    lathe_ops_.destroy(f->self);
    fake_host_finish(&f->host);
}

static double factor_at(const struct fixture *f, int64_t step) {
    lathe_progress progress = {.size = sizeof progress, .step = step};
    return lathe_ops_.factor(f->self, &progress);
}

static void tell(struct fixture *f, int64_t step, double value) {
    lathe_progress progress = {.size = sizeof progress, .step = step};
    lathe_ops_.observe(f->self, &progress, value);
}

/* The factor after these values, a step each from step 100 on. */
static double after(struct fixture *f, const double *values, int count) {
    for (int i = 0; i < count; i++) tell(f, 100 + i, values[i]);
    return factor_at(f, 100 + count);
}

#define AFTER(f, ...)                                                                  \
    after(f, (const double[]){__VA_ARGS__},                                            \
          sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

#define HALVES "{\"factor\": 0.5, \"patience\": 2, \"threshold\": 0"

static void patience_counts_values_without_improvement(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, HALVES "}");
    assert_true(AFTER(&f, 5, 5) == 1);
    assert_true(AFTER(&f, 6) == 0.5);
    assert_true(AFTER(&f, 5) == 0.5);
    assert_true(AFTER(&f, 5) == 0.25);
    assert_true(AFTER(&f, 5, 4, 5, 3, 3) == 0.25);
    assert_true(AFTER(&f, 3) == 0.125);
    finish(&f);
}

static void a_small_improvement_is_none(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"patience\": 2, \"threshold\": 0.25}");
    assert_true(AFTER(&f, 4, 3.5, 2) == 1); /* 2 is less than 4 - 4/4 */
    assert_true(AFTER(&f, 1.5, 1.5) == 0.1);
    finish(&f);
    begin(&f, "{\"patience\": 2, \"threshold\": 0.25,"
              " \"threshold_mode\": \"absolute\"}");
    assert_true(AFTER(&f, 4, 3.5, 3, 2.5, 2.25, 2.25) == 0.1);
    finish(&f);
}

/* Below 0 a threshold is still something to be gained. */
static void values_may_be_negative(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"patience\": 1, \"threshold\": 0.25}");
    assert_true(AFTER(&f, -4, -6) == 1);
    assert_true(AFTER(&f, -7) == 0.1);
    finish(&f);
}

static void the_direction_is_the_metrics_unless_told(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"patience\": 1}");
    f.flags = LATHE_HIGHER_IS_BETTER;
    assert_true(AFTER(&f, 1, 2, 3) == 1);
    assert_true(AFTER(&f, 2) == 0.1);
    finish(&f);
    begin(&f, "{\"patience\": 1, \"direction\": \"lower\"}");
    f.flags = LATHE_HIGHER_IS_BETTER;
    assert_true(AFTER(&f, 3, 2, 1) == 1);
    finish(&f);
    begin(&f, "{\"patience\": 1, \"direction\": \"higher\"}");
    assert_true(AFTER(&f, 1, 2, 3) == 1);
    finish(&f);
}

static void values_that_are_not_finite_are_no_improvement(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, HALVES "}");
    assert_true(AFTER(&f, INFINITY, -INFINITY) == 0.5);
    assert_true(AFTER(&f, NAN, 7) == 0.5);
    assert_true(AFTER(&f, NAN, 7) == 0.25);
    finish(&f);
}

static void cooldown_values_do_not_count(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, HALVES ", \"cooldown\": 3}");
    assert_true(AFTER(&f, 5, 5, 5) == 0.5);
    assert_true(AFTER(&f, 5, 5, 5, 5) == 0.5);
    assert_true(AFTER(&f, 5) == 0.25);
    finish(&f);
}

static void falls_no_lower_than_min(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"factor\": 0.5, \"patience\": 1, \"min\": 0.4}");
    assert_true(AFTER(&f, 5, 5) == 0.5);
    assert_true(AFTER(&f, 5, 5, 5, 5) == 0.4);
    finish(&f);
}

static void warms_up_and_waits_until_it_is_warm(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"patience\": 1, \"warmup\": \"8step\", \"factor\": 0.5}");
    tell(&f, 1, 5);
    tell(&f, 4, 6);
    tell(&f, 7, 6);
    assert_true(factor_at(&f, 0) == 0.125);
    assert_true(factor_at(&f, 7) == 1);
    tell(&f, 8, 6); /* 5 is still the best */
    assert_true(factor_at(&f, 8) == 0.5);
    assert_true(factor_at(&f, 3) == 0.25);
    finish(&f);
}

static void asking_changes_nothing(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, HALVES "}");
    assert_int_equal(lathe_ops_.flags & LATHE_NEEDS_HORIZON, 0);
    for (int i = 0; i < 100; i++) assert_true(factor_at(&f, i) == 1);
    assert_true(AFTER(&f, 5, 5, 5) == 0.5);
    finish(&f);
}

/* ---- state ---- */

static void save_to(struct fixture *f, struct bytes *bytes) {
    lathe_writer to = bytes_writer(bytes);
    assert_int_equal(lathe_ops_.save(f->self, &to), LATHE_OK);
}

static lathe_status load_from(struct fixture *f, struct bytes *bytes) {
    lathe_reader from = bytes_reader(bytes);
    return lathe_ops_.load(f->self, &from);
}

/* Saved and loaded after every value, it goes the way of one that never was. */
static void state_goes_on_where_it_was(void **state) {
    (void)state;
    static const double values[] = {5, 6, 4, 5, 5, 5, 5, 5, 3, 4, 4, 4, 4, 4, 4};
    struct fixture whole, part;
    struct bytes saved, again;
    begin(&whole, HALVES ", \"cooldown\": 1}");
    begin(&part, HALVES ", \"cooldown\": 1}");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        tell(&whole, 1, values[i]);
        tell(&part, 1, values[i]);
        save_to(&part, &saved);
        finish(&part);
        begin(&part, HALVES ", \"cooldown\": 1}");
        assert_int_equal(load_from(&part, &saved), LATHE_OK);
        save_to(&part, &again);
        assert_int_equal(again.length, saved.length);
        assert_memory_equal(again.data, saved.data, (size_t)saved.length);
        assert_true(factor_at(&part, 1) == factor_at(&whole, 1));
    }
    assert_true(factor_at(&whole, 1) < 0.5);
    finish(&whole);
    finish(&part);
}

static void another_metric_keeps_the_rate_and_not_the_best(void **state) {
    (void)state;
    struct fixture f;
    struct bytes saved;
    begin(&f, HALVES "}");
    assert_true(AFTER(&f, 0.1, 1, 1, 1) == 0.5);
    save_to(&f, &saved);
    finish(&f);
    begin(&f, HALVES ", \"watch\": \"validation/error\"}");
    assert_int_equal(load_from(&f, &saved), LATHE_OK);
    assert_true(AFTER(&f, 9, 8, 7, 6) == 0.5);
    finish(&f);
}

static void refuse(struct fixture *f, struct bytes *bad) {
    assert_int_equal(load_from(f, bad), LATHE_EDATA);
    assert_string_equal(f->host.failure, "this is not a state of plateau");
    f->host.failure[0] = '\0';
}

static void bad_state_is_refused_and_changes_nothing(void **state) {
    (void)state;
    struct fixture f;
    struct bytes good, bad, after_all;
    static const double factors[] = {-0.5, 1.5, NAN, INFINITY};
    begin(&f, HALVES "}");
    assert_true(AFTER(&f, 5, 5, 5) == 0.5);
    save_to(&f, &good);
    for (int64_t length = 0; length < good.length; length++) {
        bad = good;
        bad.length = length;
        refuse(&f, &bad);
    }
    bad = good;
    bad.data[bad.length++] = 0; /* longer than it was written */
    refuse(&f, &bad);
    bad = good;
    bad.data[0] = 'x'; /* somebody else's */
    refuse(&f, &bad);
    bad = good;
    memset(bad.data + offsetof(struct state, watch), 'x', 104); /* without an end */
    refuse(&f, &bad);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        bad = good;
        memcpy(bad.data + offsetof(struct state, factor), &factors[i], sizeof(double));
        refuse(&f, &bad);
    }
    bad = good;
    memset(bad.data + offsetof(struct state, stale), 0xFF, 8); /* a count below 0 */
    refuse(&f, &bad);
    bad.data[offsetof(struct state, stale) + 7] = 0x7F; /* one that cannot grow */
    refuse(&f, &bad);
    bad = good;
    memset(bad.data + offsetof(struct state, cooling), 0xFF, 8);
    refuse(&f, &bad);
    save_to(&f, &after_all);
    assert_memory_equal(after_all.data, good.data, (size_t)good.length);
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patience_counts_values_without_improvement),
        cmocka_unit_test(a_small_improvement_is_none),
        cmocka_unit_test(values_may_be_negative),
        cmocka_unit_test(the_direction_is_the_metrics_unless_told),
        cmocka_unit_test(values_that_are_not_finite_are_no_improvement),
        cmocka_unit_test(cooldown_values_do_not_count),
        cmocka_unit_test(falls_no_lower_than_min),
        cmocka_unit_test(warms_up_and_waits_until_it_is_warm),
        cmocka_unit_test(asking_changes_nothing),
        cmocka_unit_test(state_goes_on_where_it_was),
        cmocka_unit_test(another_metric_keeps_the_rate_and_not_the_best),
        cmocka_unit_test(bad_state_is_refused_and_changes_nothing),
    };
    return cmocka_run_group_tests_name("schedule plateau", tests, NULL, NULL);
}
