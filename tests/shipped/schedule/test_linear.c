/* SPDX-License-Identifier: MIT */
/* linear at its ends and bends; every step against torch's LinearLR is in
 * tests/golden. */
#include "support/fake_host.h"

#include <math.h>

#include "schedule/linear/linear.c"

#define SCHEDULE "schedule/linear"
#include "curve.h"

static void falls_from_1_to_0_over_the_run(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{}");
    expect(&f, 0, 100, 1);
    expect(&f, 25, 100, 0.75);
    expect(&f, 100, 100, 0);
    expect(&f, INT64_MAX, 100, 0);
    close_schedule(&f);
}

static void goes_between_any_two_factors(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"from\": 0.1, \"to\": 3}");
    expect(&f, 0, 10, 0.1);
    expect(&f, 5, 10, 1.55);
    expect(&f, 10, 10, 3);
    close_schedule(&f);
}

static void warms_up_to_where_it_begins(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"warmup\": \"4step\", \"from\": 0.5}");
    expect(&f, 0, 24, 0.125);
    expect(&f, 3, 24, 0.5);
    expect(&f, 4, 24, 0.5);
    expect(&f, 14, 24, 0.25);
    expect(&f, 24, 24, 0);
    close_schedule(&f);
}

static void may_be_shorter_than_the_run(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"warmup\": \"1ep\", \"over\": \"2ep\", \"to\": 0.5}");
    expect(&f, 9, 100, 1); /* an epoch is 10 steps, says the fake host */
    expect(&f, 20, 100, 0.75);
    expect(&f, 30, 100, 0.5);
    expect(&f, 99, 100, 0.5);
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
        cmocka_unit_test(falls_from_1_to_0_over_the_run),
        cmocka_unit_test(goes_between_any_two_factors),
        cmocka_unit_test(warms_up_to_where_it_begins),
        cmocka_unit_test(may_be_shorter_than_the_run),
        cmocka_unit_test(warmup_as_long_as_the_run),
        cmocka_unit_test(needs_a_horizon),
    };
    return cmocka_run_group_tests_name("schedule linear", tests, NULL, NULL);
}
