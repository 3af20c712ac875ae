/* SPDX-License-Identifier: MIT */
/* What callbacks see, what they may do, and how a run that goes wrong says so. */
#include "support/test.h"

#include "support/runs.h"

#define CHAOS(options)                                                                 \
    "{'lathe':1,'name':'probe','seed':1,"                                              \
    "'data':{'train':{'use':'ids','count':4},'validation':{'use':'ids','count':2}},"   \
    "'model':{'use':'scalar','start':8},'optimizer':{'use':'sgd','lr':1},"             \
    "'train':{'until':'2ep','batch':1,'accumulate':2},"                                \
    "'callbacks':[{'use':'recorder','file':'@'},{'use':'chaos'," options "},"          \
    "{'use':'recorder','id':'after','file':'@'}]}"

#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The first words of the recorder's lines. */
static void join_points(const struct run *run, char *joined, size_t size) {
    size_t used = 0;
    for (int i = 0; i < run->line_count; i++) {
        size_t length = strcspn(run->lines[i], " ");
        if (used + length + 2 > size) break;
        memcpy(joined + used, run->lines[i], length);
        used += length;
        joined[used++] = '\n';
    }
    joined[used] = 0;
}

#define MICRO "batch_begin\nloss_ready\nbatch_end\n"

static void points_come_in_the_documented_order(void **state) {
    (void)state;
    struct run run;
    char joined[4096];
    run_begin(&run,
              "{'lathe':1,'seed':1,'data':{'train':{'use':'ids','count':3},"
              "'validation':{'use':'ids','count':3},'test':{'use':'ids','count':2}},"
              "'model':{'use':'scalar'},'optimizer':{'use':'sgd','lr':1},"
              "'train':{'until':'1ep','batch':1,'accumulate':2},"
              "'callbacks':[{'use':'recorder','file':'@'}]}",
              OVERRIDES("data.validation.count=1"));
    assert_int_equal(run.status, LATHE_OK);
    join_points(&run, joined, sizeof joined);
    assert_string_equal(joined,
                        "run_begin\nepoch_begin\n"
                        "step_begin\n" MICRO MICRO "gradients_ready\nstep_end\n"
                        "step_begin\n" MICRO "gradients_ready\nstep_end\n"
                        "validation_begin\nvalidation_batch_end\nvalidation_end\n"
                        "epoch_end\n"
                        "validation_begin\nvalidation_batch_end\nvalidation_batch_end\n"
                        "validation_end\n"
                        "run_end\n");
    assert_non_null(strstr(run.lines[run.line_count - 2], "test"));
    assert_non_null(strstr(run.lines[run.line_count - 1], "completed"));
    run_finish(&run);
}

static const char *const point_names[] = {"run_begin",        "epoch_begin",
                                          "step_begin",       "batch_begin",
                                          "loss_ready",       "batch_end",
                                          "gradients_ready",  "step_end",
                                          "validation_begin", "validation_batch_end",
                                          "validation_end",   "epoch_end"};
#define POINTS (sizeof point_names / sizeof *point_names)

static void a_failing_callback_ends_the_run_and_is_named(void **state) {
    (void)state;
    for (size_t i = 0; i < POINTS; i++) {
        struct run run;
        char point[64], what[64], where[96];
        snprintf(point, sizeof point, "callbacks.chaos.point=%s", point_names[i]);
        snprintf(what, sizeof what, "chaos in %s", point_names[i]);
        snprintf(where, sizeof where,
                 "callbacks[1] chaos (chaos.so 1.0.0) in %s at epoch ", point_names[i]);
        run_begin(&run, CHAOS("'act':'fail'"), OVERRIDES(point));
        assert_int_equal(run.status, LATHE_EPLUGIN);
        assert_string_equal(lathe_reason(run.session), "failed");
        assert_string_equal(run.error.what, what);
        assert_memory_equal(run.error.where, where, strlen(where));
        assert_int_equal(run_count(&run, "run_end"), 2); /* both recorders, once each */
        run_finish(&run);
    }
}

static void a_failure_at_the_end_is_not_swallowed(void **state) {
    (void)state;
    struct run run;
    run_begin(&run, CHAOS("'act':'fail','point':'run_end'"), NULL);
    assert_int_equal(run.status, LATHE_EPLUGIN);
    assert_string_equal(lathe_reason(run.session), "failed");
    assert_int_equal(run_count(&run, "run_end"), 2);
    run_finish(&run);
    run_begin(&run, CHAOS("'act':'fail-silently','point':'step_end'"), NULL);
    assert_int_equal(run.status, LATHE_EPLUGIN);
    assert_string_equal(run.error.what,
                        "step_end failed (status -77) without saying why");
    run_finish(&run);
}

static void stops_are_made_at_the_next_boundary(void **state) {
    (void)state;
    for (size_t i = 1; i < 8; i++) {
        struct run run;
        char point[64];
        snprintf(point, sizeof point, "callbacks.chaos.point=%s", point_names[i]);
        run_begin(&run, CHAOS("'act':'request-stop'"), OVERRIDES(point));
        assert_int_equal(run.status, LATHE_OK);
        assert_string_equal(lathe_reason(run.session), "stopped");
        /* asked in epoch_begin: before any step; else the window is finished */
        assert_int_equal(lathe_now(run.session)->step, i == 1 ? 0 : 1);
        assert_non_null(
            strstr(run_last_record(&run), "\"because\":\"chaos: chaos wants it\""));
        run_finish(&run);
    }
    struct run run;
    run_begin(&run, CHAOS("'act':'stop'"), NULL);
    assert_string_equal(lathe_reason(run.session), "stopped");
    run_finish(&run);
}

static void validation_can_be_asked_for(void **state) {
    (void)state;
    struct run run;
    run_begin(&run, CHAOS("'act':'validate','point':'batch_begin','at':0"),
              OVERRIDES("train.validate=off"));
    assert_int_equal(run.status, LATHE_OK);
    assert_int_equal(run_count(&run, "validation_end"), 2 * 4);
    run_finish(&run);
}

static void misuse(const char *options, const char *what) {
    struct run run;
    run_begin(&run, options, NULL);
    assert_int_equal(run.status, LATHE_EPLUGIN);
    assert_string_equal(run.error.what, what);
    run_finish(&run);
}

static void services_out_of_place_fail_their_caller(void **state) {
    (void)state;
    misuse(CHAOS("'act':'write-weights','point':'batch_end'"),
           "it wants to write weights in batch_end; step_end, validation_* and epoch_* "
           "are "
           "the places");
    misuse(CHAOS("'act':'read-gradients','point':'step_end'"),
           "it wants gradients in step_end; gradients_ready is the place");
    misuse(CHAOS("'act':'load-service','point':'step_begin'"),
           "it called tally, which is [load], during the run");
    misuse(CHAOS("'act':'predict','point':'loss_ready'"),
           "it called predict between forward and backward");
    misuse(CHAOS("'act':'unknown-status','point':'step_end'"),
           "step_end failed (status 7) without saying why");
}

static void what_callbacks_write_counts(void **state) {
    (void)state;
    struct run run;
    run_begin(&run, CHAOS("'act':'write-weights','point':'epoch_end'"), NULL);
    assert_true(run_weight(&run) == 42);
    run_finish(&run);
    run_begin(&run, CHAOS("'act':'double-gradients','point':'gradients_ready'"), NULL);
    assert_true(run_weight(&run) == 8 - 2 * 4);
    assert_true(lathe_now(run.session)->gradient_norm == 2);
    run_finish(&run);
    run_begin(&run, CHAOS("'act':'read-gradients','point':'gradients_ready'"), NULL);
    assert_true(run_weight(&run) == 8 - 4);
    run_finish(&run);
}

static void what_is_not_finite_ends_the_run_before_the_update(void **state) {
    (void)state;
    struct run run;
    run_begin(&run, CHAOS("'act':'nan-gradients','point':'gradients_ready','at':1"),
              NULL);
    assert_int_equal(run.status, LATHE_EGATE);
    assert_string_equal(lathe_reason(run.session), "nonfinite");
    assert_string_equal(run.error.what, "the gradient norm is nan (w)");
    assert_true(run_weight(&run) == 7);
    run_finish(&run);
    run_begin(&run, CHAOS("'act':'nan-weights','point':'step_end','at':1"), NULL);
    assert_int_equal(run.status, LATHE_EGATE);
    assert_string_equal(run.error.what, "the loss is nan");
    assert_non_null(
        strstr(run_last_record(&run), "\"nonfinite\":{\"train/loss\":\"nan\""));
    run_finish(&run);
}

static void metrics_of_callbacks_are_recorded(void **state) {
    (void)state;
    struct run run;
    run_begin(&run, CHAOS("'act':'report','point':'step_end'"), NULL);
    assert_true(run_value(&run, "train/chaos") == 1.5);
    run_finish(&run);
    run_begin(&run, CHAOS("'act':'report','point':'validation_end'"), NULL);
    assert_true(run_value(&run, "validation/chaos") == 1.5);
    assert_true(isnan(run_value(&run, "train/chaos")));
    run_finish(&run);
}

static void data_that_cannot_be_read_names_the_sample(void **state) {
    (void)state;
    struct run run;
    run_begin(&run, CHAOS("'act':'none'"), OVERRIDES("data.train.fail_at=3"));
    assert_int_equal(run.status, LATHE_EIO);
    assert_string_equal(run.error.what, "sample 3 cannot be read");
    assert_memory_equal(run.error.where,
                        "data.train train (ids.so 1.0.0) in read at epoch 1", 50);
    run_finish(&run);
}

static void refused(const char *override, lathe_status status, const char *what) {
    struct run run;
    run_open(&run, CHAOS("'act':'none'"), OVERRIDES(override));
    assert_int_equal(run.status, status);
    assert_string_equal(run.error.what, what);
    run_finish(&run);
}

static void what_cannot_be_composed_is_refused_before_step_0(void **state) {
    (void)state;
    refused("data.train.count=0", LATHE_EDATA, "the train data has no samples");
    refused("data.validation.width=2", LATHE_EDATA,
            "field \"input\" is float32 [2], and in the training data one float32");
    refused("callbacks.chaos.point=create", LATHE_EPLUGIN, "chaos in create");
    refused(
        "model={\"use\":\"mlp\",\"hidden\":[2]}", LATHE_EINVAL,
        "mlp reads a field \"label\", which the data does not have; fields: \"id\", "
        "\"input\", \"weight\"");
    refused(
        "data.train.asks=block", LATHE_EPLUGIN,
        "it asked for a block before the model is laid out; optimizers, schedules and "
        "callbacks can");
    refused(
        "data.train.asks=steps", LATHE_EINVAL,
        "option \"every\" is read before the data is there; only steps (\"100step\") "
        "mean something then");
    struct run run;
    run_open(&run, CHAOS("'act':'none'"),
             OVERRIDES("train.until=1min", "schedule={\"use\":\"cosine\"}"));
    assert_int_equal(run.status, LATHE_EINVAL);
    assert_non_null(strstr(run.error.what, "needs to know how many steps"));
    run_finish(&run);
}

static void expectations_are_judged(void **state) {
    (void)state;
    struct run run;
    run_begin(&run, CHAOS("'act':'none'"),
              OVERRIDES("expect={\"validation/loss\":\"<= 4\"}"));
    assert_int_equal(run.status, LATHE_OK);
    run_finish(&run);
    run_begin(&run, CHAOS("'act':'none'"),
              OVERRIDES("expect={\"validation/loss\":\"< 4\"}"));
    assert_int_equal(run.status, LATHE_EGATE);
    assert_string_equal(run.error.what, "validation/loss is 4, and < 4 was expected");
    assert_string_equal(lathe_reason(run.session), "completed");
    run_finish(&run);
}

static void a_stop_from_outside_ends_at_the_boundary(void **state) {
    (void)state;
    struct run run;
    run_open(&run, CHAOS("'act':'none'"), NULL);
    assert_int_equal(run.status, LATHE_OK);
    lathe_session *s = run.session;
    assert_int_equal(lathe_run_begin(s), LATHE_OK);
    assert_int_equal(lathe_epoch_begin(s), LATHE_OK);
    assert_int_equal(lathe_step_begin(s), LATHE_OK);
    lathe_stop(s, "preempted");
    while (lathe_batch_begin(s) == LATHE_OK) {
        assert_int_equal(lathe_forward(s), LATHE_OK);
        assert_int_equal(lathe_backward(s), LATHE_OK);
    }
    assert_int_equal(lathe_reduce(s), LATHE_OK);
    assert_int_equal(lathe_update(s), LATHE_OK);
    assert_int_equal(lathe_step_begin(s), LATHE_END);
    assert_int_equal(lathe_run_end(s, LATHE_END), LATHE_OK);
    assert_string_equal(lathe_reason(s), "preempted");
    assert_int_equal(lathe_run_end(s, LATHE_OK), LATHE_EINVAL);
    run_finish(&run);
}

static void pieces_out_of_order_are_refused(void **state) {
    (void)state;
    struct run run;
    lathe_error error = {.size = sizeof error};
    lathe_session *s = NULL;
    assert_int_equal(lathe_open(NULL, &s, &error), LATHE_EINVAL);
    assert_int_equal(lathe_open(&(lathe_session_options){0}, &s, &error), LATHE_EINVAL);
    run_open(&run, CHAOS("'act':'none'"), NULL);
    s = run.session;
    assert_int_equal(lathe_epoch_begin(s), LATHE_EINVAL);
    assert_int_equal(lathe_run_begin(s), LATHE_OK);
    assert_int_equal(lathe_run_begin(s), LATHE_EINVAL);
    assert_int_equal(lathe_step_begin(s), LATHE_EINVAL);
    assert_string_equal(lathe_last_error(s)->what,
                        "lathe_step_begin is called out of its order");
    assert_int_equal(lathe_epoch_begin(s), LATHE_OK);
    assert_int_equal(lathe_batch_begin(s), LATHE_EINVAL);
    assert_int_equal(lathe_step_begin(s), LATHE_OK);
    assert_int_equal(lathe_forward(s), LATHE_EINVAL);
    assert_int_equal(lathe_batch_begin(s), LATHE_OK);
    assert_int_equal(lathe_backward(s), LATHE_EINVAL);
    assert_int_equal(lathe_forward(s), LATHE_OK);
    assert_int_equal(lathe_validate(s), LATHE_EINVAL);
    assert_int_equal(lathe_update(s), LATHE_EINVAL);
    assert_int_equal(lathe_backward(s), LATHE_OK);
    run_finish(&run);
}

/* The window's two micro-batches: with or without a validation in between. */
static double norm_of_window(int validates, float factor) {
    struct run run;
    run_open(&run, CHAOS("'act':'none'"), OVERRIDES("data.train.inputs=[3,1,5,2]"));
    lathe_session *s = run.session;
    assert_int_equal(lathe_run_begin(s) | lathe_epoch_begin(s) | lathe_step_begin(s),
                     0);
    while (lathe_batch_begin(s) == LATHE_OK) {
        assert_int_equal(lathe_forward(s) | lathe_backward(s), LATHE_OK);
        if (validates) assert_int_equal(lathe_validate(s), LATHE_OK);
    }
    assert_int_equal(lathe_reduce(s), LATHE_OK);
    if (factor != 1) lathe_gradients(s, LATHE_WRITE, NULL)[0] *= factor;
    lathe_status status = lathe_update(s);
    double norm = status == LATHE_OK ? lathe_now(s)->gradient_norm : -1;
    run_finish(&run);
    return norm;
}

static void a_window_survives_what_is_done_in_it(void **state) {
    (void)state;
    double norm = norm_of_window(0, 1);
    assert_true(norm > 0);
    assert_true(norm_of_window(1, 1) == norm);
    assert_true(norm_of_window(0, 2) == 2 * norm);
    assert_true(norm_of_window(0, NAN) == -1);
}

static void weights_that_are_not_finite_are_not_a_success(void **state) {
    (void)state;
    struct run run;
    run_begin(&run, CHAOS("'act':'nan-weights','point':'epoch_end','at':4"),
              OVERRIDES("train.validate=off"));
    assert_int_equal(run.status, LATHE_EGATE);
    assert_string_equal(lathe_reason(run.session), "nonfinite");
    assert_string_equal(run.error.what, "the weights at the end are not finite");
    run_finish(&run);
}

static void stopping_where_it_ends_anyway_is_completing(void **state) {
    (void)state;
    struct run run;
    run_begin(&run, CHAOS("'act':'request-stop','point':'step_end','at':4"), NULL);
    assert_string_equal(lathe_reason(run.session), "completed");
    assert_null(strstr(run_last_record(&run), "because"));
    run_finish(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_out_of_order_are_refused),
        cmocka_unit_test(a_window_survives_what_is_done_in_it),
        cmocka_unit_test(weights_that_are_not_finite_are_not_a_success),
        cmocka_unit_test(stopping_where_it_ends_anyway_is_completing),
        cmocka_unit_test(points_come_in_the_documented_order),
        cmocka_unit_test(a_failing_callback_ends_the_run_and_is_named),
        cmocka_unit_test(a_failure_at_the_end_is_not_swallowed),
        cmocka_unit_test(stops_are_made_at_the_next_boundary),
        cmocka_unit_test(validation_can_be_asked_for),
        cmocka_unit_test(services_out_of_place_fail_their_caller),
        cmocka_unit_test(what_callbacks_write_counts),
        cmocka_unit_test(what_is_not_finite_ends_the_run_before_the_update),
        cmocka_unit_test(metrics_of_callbacks_are_recorded),
        cmocka_unit_test(data_that_cannot_be_read_names_the_sample),
        cmocka_unit_test(what_cannot_be_composed_is_refused_before_step_0),
        cmocka_unit_test(expectations_are_judged),
        cmocka_unit_test(a_stop_from_outside_ends_at_the_boundary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
