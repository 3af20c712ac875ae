/* SPDX-License-Identifier: MIT */
/* Schedules in a run: the host tells plateau every validation, and a factor is the
 * rate's. */
#include "support/test.h"

#include "support/runs.h"

#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A rate too small to change a weight: validation/loss never improves. */
static const char network[] =
    "{'lathe':1,'seed':3,'data':{'train':{'use':'blobs','samples':40},"
    "'validation':{'use':'blobs','samples':20}},'model':{'use':'mlp','hidden':[4]},"
    "'optimizer':{'use':'sgd','lr':1e-30},"
    "'schedule':{'use':'plateau','factor':0.5,'patience':2},"
    "'train':{'until':'6ep','batch':20}}";

static double rate_after(const char *const *overrides) {
    struct run run;
    run_begin(&run, network, overrides);
    if (run.status != LATHE_OK) fail_msg("%s (%s)", run.error.what, run.error.where);
    double rate = lathe_now(run.session)->rate;
    run_finish(&run);
    return rate;
}

static void the_rate_falls_where_nothing_improves(void **state) {
    (void)state;
    /* Best at epoch 1, halved after 3 and after 5. */
    assert_true(rate_after(OVERRIDES("train.until=3ep")) == 1e-30);
    assert_true(rate_after(OVERRIDES("train.until=4ep")) == 0.5e-30);
    assert_true(rate_after(OVERRIDES("train.until=6ep")) == 0.25e-30);
}

static void every_validation_counts_and_nothing_else(void **state) {
    (void)state;
    assert_true(rate_after(OVERRIDES("train.validate=1step")) == 1e-30 / 32);
    assert_true(rate_after(OVERRIDES("train.validate=6ep")) == 1e-30);
}

static void a_metric_that_nobody_reports_is_refused(void **state) {
    (void)state;
    struct run run;
    run_begin(&run, network, OVERRIDES("schedule.watch=validation/lost"));
    assert_int_equal(run.status, LATHE_EINVAL);
    assert_string_equal(run.error.where, "command line: schedule.watch");
    assert_non_null(strstr(run.error.help, "did you mean \"validation/loss\"?"));
    run_finish(&run);
}

static void schedules_of_a_horizon_want_one(void **state) {
    (void)state;
    const char *const names[] = {"linear", "polynomial", "onecycle"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct run run;
        char schedule[64], start[64];
        snprintf(schedule, sizeof schedule, "schedule={\"use\":\"%s\"}", names[i]);
        snprintf(start, sizeof start, "schedule \"%s\" needs to know", names[i]);
        run_begin(&run, network, OVERRIDES(schedule, "train.until=5s"));
        assert_int_equal(run.status, LATHE_EINVAL);
        assert_memory_equal(run.error.what, start, strlen(start));
        run_finish(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_falls_where_nothing_improves),
        cmocka_unit_test(every_validation_counts_and_nothing_else),
        cmocka_unit_test(a_metric_that_nobody_reports_is_refused),
        cmocka_unit_test(schedules_of_a_horizon_want_one),
    };
    return cmocka_run_group_tests_name("schedules in a run", tests, NULL, NULL);
}
