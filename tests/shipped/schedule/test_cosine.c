/* SPDX-License-Identifier: MIT */
#include "support/fake_host.h"

#include "schedule/cosine/cosine.c"

#define SCHEDULE "schedule/cosine"
#include "curve.h"

static void falls_from_1_to_0(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{}");
    expect(&f, 0, 100, 1);
    expect(&f, 50, 100, 0.5);
    expect(&f, 25, 100, 0.5 + sqrt(0.125));
    expect(&f, 100, 100, 0);
    for (int64_t step = 0; step < 100; step++)
        assert_true(at(&f, step + 1, 100) < at(&f, step, 100));
    close_schedule(&f);
}

static void warms_up_in_a_line(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"warmup\": \"4step\"}");
    expect(&f, 0, 24, 0.25);
    expect(&f, 1, 24, 0.5);
    expect(&f, 2, 24, 0.75);
    expect(&f, 3, 24, 1);
    expect(&f, 4, 24, 1);
    expect(&f, 14, 24, 0.5);
    expect(&f, 24, 24, 0);
    close_schedule(&f);
}

static void warmup_in_epochs_is_counted_in_steps(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"warmup\": \"1ep\"}"); /* 10 steps, says the fake host */
    expect(&f, 0, 110, 0.1);
    expect(&f, 9, 110, 1);
    expect(&f, 60, 110, 0.5);
    close_schedule(&f);
}

static void stays_above_its_floor(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"floor\": 0.2}");
    expect(&f, 0, 10, 1);
    expect(&f, 5, 10, 0.6);
    expect(&f, 10, 10, 0.2);
    close_schedule(&f);
}

static void beyond_the_horizon_it_is_the_floor(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"floor\": 0.2, \"warmup\": \"4step\"}");
    expect(&f, 11, 10, 0.2);
    expect(&f, INT64_MAX, 10, 0.2);
    close_schedule(&f);
}

/* A warm-up that fills the run, or is longer, is all there is of it. */
static void warmup_as_long_as_the_run(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"warmup\": \"8step\"}");
    expect(&f, 7, 8, 1);
    expect(&f, 8, 8, 0);
    expect(&f, 3, 4, 0.5);
    expect(&f, 5, 4, 0.75);
    close_schedule(&f);
}

static void needs_a_horizon(void **state) {
    (void)state;
    assert_int_equal(lathe_ops_.flags, LATHE_NEEDS_HORIZON);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(falls_from_1_to_0),
        cmocka_unit_test(warms_up_in_a_line),
        cmocka_unit_test(warmup_in_epochs_is_counted_in_steps),
        cmocka_unit_test(stays_above_its_floor),
        cmocka_unit_test(beyond_the_horizon_it_is_the_floor),
        cmocka_unit_test(warmup_as_long_as_the_run),
        cmocka_unit_test(needs_a_horizon),
    };
    return cmocka_run_group_tests_name("schedule cosine", tests, NULL, NULL);
}
