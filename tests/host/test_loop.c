/* SPDX-License-Identifier: MIT */
/* The arithmetic of the loop, on a model whose updates can be done by hand. Each test
 * is a fault that was reported of another trainer. */
#include "support/test.h"

#include "base/clock.h"
#include "support/runs.h"

/* One weight, gradient 1 per sample, learning rate 1: each step moves w by -1. */
#define SCALAR(data, train)                                                            \
    "{'lathe':1,'name':'probe','seed':1,'data':{" data "},'model':{'use':'scalar'},"   \
    "'optimizer':{'use':'sgd','lr':1},'train':{" train "},"                            \
    "'callbacks':[{'use':'recorder','file':'@'}]}"
#define IDS(count) "'train':{'use':'ids','count':" #count "}"

#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void begin(struct run *run, const char *text, const char *const *overrides) {
    run_begin(run, text, overrides);
    if (run->status != LATHE_OK) fail_msg("%s (%s)", run->error.what, run->error.where);
}

static float end_weight(const char *text, const char *const *overrides) {
    struct run run;
    begin(&run, text, overrides);
    float w = run_weight(&run);
    run_finish(&run);
    return w;
}

static void accumulation_equals_the_big_batch(void **state) {
    (void)state;
    const char *text = "{'lathe':1,'seed':1,'data':{'train':{'use':'ids','count':4,"
                       "'inputs':[1,5,2,7],'weights':[1,0,2,1]}},"
                       "'model':{'use':'scalar','start':3,'square':true},"
                       "'optimizer':{'use':'sgd','lr':0.01},"
                       "'train':{'until':'5ep','batch':4}}";
    float whole = end_weight(text, NULL);
    float parts = end_weight(text, OVERRIDES("train.batch=3", "train.accumulate=2"));
    float ones = end_weight(text, OVERRIDES("train.batch=1", "train.accumulate=4"));
    assert_true(whole != 3);
    assert_true(fabsf(parts - whole) <= 1e-6f * fabsf(whole));
    assert_true(fabsf(ones - whole) <= 1e-6f * fabsf(whole));
}

static void short_windows_divide_by_what_they_hold(void **state) {
    (void)state;
    struct run run;
    begin(&run, SCALAR(IDS(5), "'until':'1ep','batch':1,'accumulate':2"), NULL);
    assert_true(run_weight(&run) == -3);
    assert_int_equal(lathe_now(run.session)->step, 3);
    assert_int_equal(lathe_now(run.session)->samples, 5);
    assert_int_equal(run_count(&run, "batch_end"), 5);
    run_finish(&run);
}

static void trailing_windows_are_not_dropped(void **state) {
    (void)state;
    struct run run;
    begin(&run, SCALAR(IDS(3), "'until':'2ep','batch':1,'accumulate':4"), NULL);
    assert_int_equal(lathe_now(run.session)->step, 2);
    assert_true(run_weight(&run) == -2);
    assert_non_null(strstr(run.log, "1: train.accumulate is 4 and an epoch has 3 "));
    run_finish(&run);
}

static void steps_are_updates(void **state) {
    (void)state;
    struct run run;
    begin(&run,
          "{'lathe':1,'seed':1,'data':{" IDS(
              4) "},'model':{'use':'scalar'},"
                 "'optimizer':{'use':'sgd','lr':1},"
                 "'train':{'until':'3ep','batch':1,'accumulate':2},"
                 "'callbacks':[{'use':'recorder','file':'@','is_due':'2step'}]}",
          NULL);
    int64_t due[8];
    int count = 0;
    for (int i = 0; i < run.line_count; i++) {
        long long epoch, step;
        if (sscanf(run.lines[i], "step_end %lld %lld", &epoch, &step) == 2 &&
            strstr(run.lines[i], " due") && count < 8)
            due[count++] = step;
    }
    assert_int_equal(lathe_now(run.session)->step, 6);
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(due[i], 2 * (i + 1));
    run_finish(&run);
}

static void validation_counts_steps_too(void **state) {
    (void)state;
    struct run run;
    begin(&run,
          SCALAR(IDS(16) ",'validation':{'use':'ids','count':3}",
                 "'until':'1ep','batch':1,'accumulate':4,'validate':'2step'"),
          NULL);
    int micros = 0, at[4], count = 0;
    for (int i = 0; i < run.line_count; i++) {
        micros += !strncmp(run.lines[i], "batch_end", 9);
        if (!strncmp(run.lines[i], "validation_begin", 16) && count < 4)
            at[count++] = micros;
    }
    assert_int_equal(count, 2);
    assert_int_equal(at[0], 8);
    assert_int_equal(at[1], 16);
    run_finish(&run);
}

static void rates_follow_steps(void **state) {
    (void)state;
    for (int accumulate = 1; accumulate <= 4; accumulate *= 4) {
        struct run run;
        char number[32];
        snprintf(number, sizeof number, "train.accumulate=%d", accumulate);
        begin(&run, SCALAR(IDS(40), "'until':'10step','batch':1"),
              OVERRIDES(number, "schedule={\"use\":\"cosine\"}"));
        int step = 0;
        for (int i = 0; i < run.line_count; i++) {
            const char *rate = strstr(run.lines[i], "lr=");
            if (strncmp(run.lines[i], "step_end", 8)) continue;
            double expected = (1 + cos(M_PI * step++ / 10)) / 2;
            assert_true(fabs(atof(rate + 3) - expected) < 1e-5);
        }
        assert_int_equal(step, 10);
        run_finish(&run);
    }
}

static void logged_loss_does_not_depend_on_accumulation(void **state) {
    (void)state;
    const char *const numbers[] = {"train.accumulate=1", "train.accumulate=2",
                                   "train.accumulate=8"};
    for (int i = 0; i < 3; i++) {
        struct run run;
        begin(&run,
              "{'lathe':1,'seed':1,'data':{" IDS(
                  20) "},"
                      "'model':{'use':'scalar','start':2},'optimizer':{'use':'sgd','lr'"
                      ":0},"
                      "'train':{'until':'2ep','batch':3,'log':'1step'}}",
              OVERRIDES(numbers[i]));
        assert_true(run_value(&run, "train/loss") == 2);
        for (int j = 0; j < run.record_count - 1; j++)
            assert_non_null(strstr(run.records[j], "\"metrics\":{\"loss\":2,"));
        run_finish(&run);
    }
}

static void validation_is_weighted_by_sample(void **state) {
    (void)state;
    struct run run;
    begin(&run,
          SCALAR(IDS(1) ",'validation':{'use':'ids','count':9,"
                        "'inputs':[1,1,1,1,1,1,1,1,9]}",
                 "'until':'1step','batch':4"),
          OVERRIDES("model.start=1", "optimizer.lr=0"));
    assert_true(fabs(run_value(&run, "validation/loss") - 17.0 / 9) < 1e-12);
    assert_true(run_value(&run, "validation/count") == 3.0);
    run_finish(&run);
}

/* ids of an epoch, as the recorder saw them */
static int order_of(const struct run *run, long long epoch, long long *ids) {
    int count = 0;
    for (int i = 0; i < run->line_count; i++) {
        long long at;
        if (sscanf(run->lines[i], "batch_end %lld", &at) != 1 || at != epoch) continue;
        const char *rest = strstr(run->lines[i], "norm=");
        for (rest = strchr(rest, ' '); rest; rest = strchr(rest + 1, ' '))
            ids[count++] = atoll(rest + 1);
    }
    return count;
}

static void every_epoch_has_its_own_order(void **state) {
    (void)state;
    struct run a, b;
    long long x[3][10], y[3][10];
    const char *text = SCALAR(IDS(10), "'until':'3ep','batch':4");
    begin(&a, text, NULL);
    begin(&b, text, NULL);
    for (int e = 0; e < 3; e++) {
        assert_int_equal(order_of(&a, e + 1, x[e]), 10);
        assert_int_equal(order_of(&b, e + 1, y[e]), 10);
        assert_memory_equal(x[e], y[e], sizeof x[e]);
        int seen[10] = {0};
        for (int i = 0; i < 10; i++) assert_int_equal(seen[x[e][i]]++, 0);
    }
    assert_memory_not_equal(x[0], x[1], sizeof x[0]);
    assert_memory_not_equal(x[1], x[2], sizeof x[0]);
    assert_memory_not_equal(x[0], x[2], sizeof x[0]);
    run_finish(&a);
    run_finish(&b);
}

static void noise_depends_on_position_alone(void **state) {
    (void)state;
    const char *text = "{'lathe':1,'seed':1,'data':{'train':{'use':'ids','count':32,"
                       "'noise':1}},'model':{'use':'scalar'},"
                       "'optimizer':{'use':'sgd','lr':1},"
                       "'train':{'until':'3ep','batch':8,'shards':4}}";
    float one = end_weight(text, OVERRIDES("train.threads=1"));
    assert_true(one == end_weight(text, OVERRIDES("train.threads=3")));
    assert_true(fabsf(one - end_weight(text, OVERRIDES("train.shards=1"))) < 1e-5f);
    assert_true(fabsf(one - end_weight(text, OVERRIDES("train.batch=4",
                                                       "train.accumulate=2"))) < 1e-5f);
    assert_true(one != end_weight(text, OVERRIDES("seed=2")));
}

static void the_earlier_bound_wins(void **state) {
    (void)state;
    struct run run;
    begin(&run, SCALAR(IDS(4), "'until':['2ep','3step'],'batch':2"), NULL);
    assert_int_equal(lathe_now(run.session)->step, 3);
    assert_int_equal(lathe_now(run.session)->steps_total, 3);
    assert_string_equal(lathe_reason(run.session), "completed");
    run_finish(&run);
    begin(&run, SCALAR(IDS(4), "'until':['2ep','30step'],'batch':2"), NULL);
    assert_int_equal(lathe_now(run.session)->step, 4);
    run_finish(&run);
    begin(&run, SCALAR(IDS(5), "'until':'7sample','batch':2"), NULL);
    assert_int_equal(lathe_now(run.session)->step, 4); /* 2 2 1, then 2 */
    run_finish(&run);
    begin(&run, SCALAR(IDS(10), "'until':'1.25ep','batch':3"), NULL);
    assert_int_equal(lathe_now(run.session)->step, 5);
    run_finish(&run);
}

static void time_alone_is_a_bound(void **state) {
    (void)state;
    struct run run;
    const double before = clock_seconds();
    begin(&run, SCALAR(IDS(4), "'until':'0.2s','batch':2"), OVERRIDES("callbacks=[]"));
    assert_string_equal(lathe_reason(run.session), "completed");
    assert_true(clock_seconds() - before >= 0.2);
    assert_true(lathe_now(run.session)->step > 0);
    run_finish(&run);
}

static void patience_counts_fresh_values(void **state) {
    (void)state;
    struct run run;
    begin(&run,
          SCALAR(IDS(1) ",'validation':{'use':'ids','count':2}",
                 "'until':'20ep','batch':1,'validate':'2step'"),
          OVERRIDES("model.start=1", "optimizer.lr=-0", /* w, and the loss, stay at 1 */
                    "callbacks=[{\"use\":\"early-stopping\",\"patience\":2}]"));
    assert_string_equal(lathe_reason(run.session), "stopped");
    assert_int_equal(lathe_now(run.session)->step, 6);
    assert_non_null(strstr(run_last_record(&run), "\"because\":\"early-stopping: "));
    run_finish(&run);
}

static void empty_windows_count_and_change_nothing(void **state) {
    (void)state;
    struct run run;
    begin(&run,
          "{'lathe':1,'seed':1,'data':{'train':{'use':'ids','count':3,'weights':[0]}},"
          "'model':{'use':'scalar','start':5},'optimizer':{'use':'sgd','lr':1},"
          "'train':{'until':'2ep','batch':1}}",
          NULL);
    assert_int_equal(lathe_now(run.session)->step, 6);
    assert_true(run_weight(&run) == 5);
    assert_non_null(strstr(run.log, "has weight 0"));
    run_finish(&run);
}

static void more_shards_than_rows_are_left_out(void **state) {
    (void)state;
    struct run run;
    begin(&run, SCALAR(IDS(9), "'until':'1ep','batch':8,'shards':8"), NULL);
    assert_true(run_weight(&run) ==
                -2); /* 8 rows, then 1 row in the last of 8 slices */
    run_finish(&run);
}

static void clipping_is_of_the_mean(void **state) {
    (void)state;
    const char *text = "{'lathe':1,'seed':1,'data':{'train':{'use':'ids','count':8,"
                       "'inputs':[6]}},'model':{'use':'scalar'},"
                       "'optimizer':{'use':'sgd','lr':1},"
                       "'train':{'until':'1step','batch':4,'accumulate':2}}";
    assert_true(end_weight(text, NULL) == -6);
    assert_true(end_weight(text, OVERRIDES("train.clip_norm=3")) == -3);
    assert_true(end_weight(text, OVERRIDES("train.clip_norm=100")) == -6);
    assert_true(end_weight(text, OVERRIDES("train.clip_value=0.5")) == -0.5f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accumulation_equals_the_big_batch),
        cmocka_unit_test(short_windows_divide_by_what_they_hold),
        cmocka_unit_test(trailing_windows_are_not_dropped),
        cmocka_unit_test(steps_are_updates),
        cmocka_unit_test(validation_counts_steps_too),
        cmocka_unit_test(rates_follow_steps),
        cmocka_unit_test(logged_loss_does_not_depend_on_accumulation),
        cmocka_unit_test(validation_is_weighted_by_sample),
        cmocka_unit_test(every_epoch_has_its_own_order),
        cmocka_unit_test(noise_depends_on_position_alone),
        cmocka_unit_test(the_earlier_bound_wins),
        cmocka_unit_test(time_alone_is_a_bound),
        cmocka_unit_test(patience_counts_fresh_values),
        cmocka_unit_test(empty_windows_count_and_change_nothing),
        cmocka_unit_test(more_shards_than_rows_are_left_out),
        cmocka_unit_test(clipping_is_of_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
