/* SPDX-License-Identifier: MIT */
/* lr-monitor puts the rate of the steps into the records of training. */
#include "support/test.h"

#include "support/runs.h"

#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Four steps; the rate of step i (from 0) is 0.4 * (1 - i / 4). */
static const char falling[] =
    "{'lathe':1,'seed':3,'data':{'train':{'use':'blobs','samples':40},"
    "'validation':{'use':'blobs','samples':20}},'model':{'use':'mlp','hidden':[4]},"
    "'optimizer':{'use':'sgd','lr':0.4},'schedule':{'use':'linear'},"
    "'train':{'until':'2ep','batch':20,'log':'1step'},"
    "'callbacks':[{'use':'lr-monitor'}]}";

/* The number after "lr": in the record of that step; NaN: there is none. */
static double rate_in(const struct run *run, const char *split, int step) {
    char start[64];
    for (int i = 0; i < run->record_count; i++) {
        snprintf(start, sizeof start, "{\"split\":\"%s\",\"epoch\":%d,\"step\":%d,",
                 split, (step + 1) / 2, step);
        if (strncmp(run->records[i], start, strlen(start)) != 0) continue;
        const char *lr = strstr(run->records[i], "\"lr\":");
        return lr ? strtod(lr + 5, NULL) : NAN;
    }
    fail_msg("no record of %s at step %d", split, step);
    return NAN;
}

static void begin_well(struct run *run, const char *const *overrides) {
    run_begin(run, falling, overrides);
    if (run->status != LATHE_OK) fail_msg("%s (%s)", run->error.what, run->error.where);
}

static void every_record_of_training_has_the_rate(void **state) {
    (void)state;
    struct run run;
    begin_well(&run, NULL);
    for (int step = 1; step <= 4; step++)
        assert_true(rate_in(&run, "train", step) == 0.4 * (1 - (step - 1) / 4.0));
    assert_true(isnan(rate_in(&run, "validation", 2)));
    run_finish(&run);
}

static void a_record_of_many_steps_has_their_mean(void **state) {
    (void)state;
    struct run run;
    begin_well(&run, OVERRIDES("train.log=2step"));
    assert_true(fabs(rate_in(&run, "train", 2) - 0.35) < 1e-15);
    assert_true(fabs(rate_in(&run, "train", 4) - 0.15) < 1e-15);
    run_finish(&run);
}

static void the_rate_can_be_expected(void **state) {
    (void)state;
    struct run run;
    begin_well(&run, OVERRIDES("expect={\"train/lr\":\"<= 0.2\"}"));
    assert_true(fabs(run_value(&run, "train/lr") - 0.15) < 1e-15); /* of the epoch */
    run_finish(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_of_training_has_the_rate),
        cmocka_unit_test(a_record_of_many_steps_has_their_mean),
        cmocka_unit_test(the_rate_can_be_expected),
    };
    return cmocka_run_group_tests_name("lr-monitor", tests, NULL, NULL);
}
