/* SPDX-License-Identifier: MIT */
/* step at the edges of its stairs; every step against torch's StepLR is in
 * tests/golden. */
#include "support/fake_host.h"

#include <math.h>

#include "schedule/step/step.c"

#define SCHEDULE "schedule/step"
#include "curve.h"

static void falls_at_intervals(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"every\": \"4step\", \"factor\": 0.5}");
    expect(&f, 0, 0, 1);
    expect(&f, 3, 0, 1);
    expect(&f, 4, 0, 0.5);
    expect(&f, 7, 0, 0.5);
    expect(&f, 8, 0, 0.25);
    expect(&f, INT64_MAX, 0, 0);
    close_schedule(&f);
}

static void intervals_may_be_epochs(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"every\": \"3ep\"}"); /* 30 steps, says the fake host */
    expect(&f, 29, 0, 1);
    expect(&f, 30, 0, 0.1);
    expect(&f, 60, 0, 0.01);
    close_schedule(&f);
}

static void a_warmup_does_not_move_the_stairs(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"every\": \"4step\", \"factor\": 0.5, \"warmup\": \"8step\"}");
    expect(&f, 0, 0, 0.125);
    expect(&f, 3, 0, 0.5);
    expect(&f, 4, 0, 0.3125);
    expect(&f, 7, 0, 0.5);
    expect(&f, 8, 0, 0.25);
    expect(&f, 12, 0, 0.125);
    close_schedule(&f);
}

static void may_rise_or_end_at_0(void **state) {
    (void)state;
    struct fixture f;
    open_schedule(&f, "{\"every\": \"2step\", \"factor\": 2}");
    expect(&f, 6, 0, 8);
    close_schedule(&f);
    open_schedule(&f, "{\"every\": \"2step\", \"factor\": 0}");
    expect(&f, 1, 0, 1);
    expect(&f, 2, 0, 0);
    close_schedule(&f);
}

static void needs_no_horizon(void **state) {
    (void)state;
    assert_int_equal(lathe_ops_.flags & LATHE_NEEDS_HORIZON, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(falls_at_intervals),
        cmocka_unit_test(intervals_may_be_epochs),
        cmocka_unit_test(a_warmup_does_not_move_the_stairs),
        cmocka_unit_test(may_rise_or_end_at_0),
        cmocka_unit_test(needs_no_horizon),
    };
    return cmocka_run_group_tests_name("schedule step", tests, NULL, NULL);
}
