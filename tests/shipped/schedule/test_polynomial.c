/* SPDX-License-Identifier: MIT */
/* polynomial at its ends; every step against torch's PolynomialLR is in
 * tests/golden. */
#include "support/fake_host.h"

#include "schedule/polynomial/polynomial.c"

#define SCHEDULE "schedule/polynomial"
#include "curve.h"

static void is_a_line_unless_told(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{}");
    expect(&f, 0, 100, 1);
    expect(&f, 25, 100, 0.75);
    expect(&f, 100, 100, 0);
    expect(&f, INT64_MAX, 100, 0);
    close_schedule(&f);
}

static void is_a_power_of_what_is_left(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"power\": 2}");
    expect(&f, 25, 100, 0.5625);
    expect(&f, 50, 100, 0.25);
    close_schedule(&f);
    open_schedule(&f, "{\"power\": 0.5, \"end\": 0.25}");
    expect(&f, 0, 100, 1);
    expect(&f, 75, 100, 0.25 + 0.75 * 0.5);
    expect(&f, 100, 100, 0.25);
    close_schedule(&f);
}

static void warms_up_in_a_line(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"warmup\": \"4step\", \"power\": 3}");
    expect(&f, 0, 24, 0.25);
    expect(&f, 3, 24, 1);
    expect(&f, 4, 24, 1);
    expect(&f, 14, 24, 0.125);
    expect(&f, 24, 24, 0);
    expect(&f, 2, 3, 0.75); /* the warm-up is longer than the run */
    close_schedule(&f);
}

static void needs_a_horizon(void **state) {
    (void)state;
    assert_int_equal(lathe_ops_.flags, LATHE_NEEDS_HORIZON);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_a_line_unless_told),
        cmocka_unit_test(is_a_power_of_what_is_left),
        cmocka_unit_test(warms_up_in_a_line),
        cmocka_unit_test(needs_a_horizon),
    };
    return cmocka_run_group_tests_name("schedule polynomial", tests, NULL, NULL);
}
