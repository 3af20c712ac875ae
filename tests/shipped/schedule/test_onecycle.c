/* SPDX-License-Identifier: MIT */
/* onecycle at its corners, and in runs too short for it; every step against torch's
 * OneCycleLR is in tests/golden. */
#include "support/fake_host.h"

#include "schedule/onecycle/onecycle.c"

#define SCHEDULE "schedule/onecycle"
#include "curve.h"

/* The top is at step 0.5 * 21 - 1 = 9.5, between two steps. */
static void rises_and_falls(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"shape\": \"linear\", \"pct_start\": 0.5, \"div_factor\": 4,"
                      " \"final_div_factor\": 10}");
    expect(&f, 0, 21, 0.25);
    expect(&f, 9, 21, 0.25 + 0.75 * 9 / 9.5);
    expect(&f, 10, 21, 1 - (1 - 0.025) * 0.5 / 10.5);
    expect(&f, 20, 21, 0.025);
    expect(&f, 21, 21, 0.025);
    expect(&f, INT64_MAX, 21, 0.025);
    close_schedule(&f);
}

static void along_cosines_from_torchs_own_factors(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{}");
    expect(&f, 0, 110, 0.04);
    expect(&f, 16, 110, 0.52); /* half-way up: the top is at 0.3 * 110 - 1 */
    expect(&f, 32, 110, 1);
    expect(&f, 109, 110, 4e-6);
    close_schedule(&f);
}

static void the_top_is_what_it_is_told(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"max\": 10}");
    expect(&f, 0, 10, 0.4);
    expect(&f, 2, 10, 10);
    expect(&f, 9, 10, 4e-5);
    close_schedule(&f);
}

static void short_runs_begin_at_the_top(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{}");
    expect(&f, 0, 1, 1);
    expect(&f, 0, 2, 1);
    expect(&f, 1, 2, 4e-6);
    close_schedule(&f);
    open_schedule(&f, "{\"pct_start\": 0}");
    expect(&f, 0, 10, 1);
    close_schedule(&f);
    open_schedule(&f, "{\"pct_start\": 1}"); /* nothing but a rise */
    expect(&f, 0, 10, 0.04);
    expect(&f, 9, 10, 1);
    close_schedule(&f);
}

static void needs_a_horizon(void **state) {
    (void)state;
    assert_int_equal(lathe_ops_.flags, LATHE_NEEDS_HORIZON);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rises_and_falls),
        cmocka_unit_test(along_cosines_from_torchs_own_factors),
        cmocka_unit_test(the_top_is_what_it_is_told),
        cmocka_unit_test(short_runs_begin_at_the_top),
        cmocka_unit_test(needs_a_horizon),
    };
    return cmocka_run_group_tests_name("schedule onecycle", tests, NULL, NULL);
}
