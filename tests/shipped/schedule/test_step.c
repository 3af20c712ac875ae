/* SPDX-License-Identifier: MIT */
/* step at the edges of its stairs; every step against torch's StepLR is in
 * tests/golden. */
#include "support/fake_host.h"

#include <math.h>

#include "schedule/step/step.c"

struct fixture {
    struct fake_host host; /* first: a host's context is its fake */
    void *self;
};

static void open_schedule(struct fixture *f, const char *options) {
    f->self = NULL;
    fake_host_init(&f->host, options);
    fake_host_manifest(&f->host, "schedule/step");
    assert_int_equal(lathe_ops_.create(&f->host.table, &f->self), LATHE_OK);
}

static void close_schedule(struct fixture *f) {
    lathe_ops_.destroy(f->self);
    fake_host_finish(&f->host);
}

static void expect(const struct fixture *f, int64_t step, int64_t steps,
                   double expected) {
    lathe_progress progress = {.size = sizeof progress, .step = step, .steps = steps};
    double actual = lathe_ops_.factor(f->self, &progress);
    if (!(fabs(actual - expected) < 1e-15))
        fail_msg("step %lld of %lld: %.17g, not %.17g", (long long)step,
                 (long long)steps, actual, expected);
}

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
