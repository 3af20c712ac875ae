/* SPDX-License-Identifier: MIT */
/* lathe/draft/feed.h: what a loop writes into a micro-batch is what is learnt, what a
 * model says of rows is what it says of them in training; each checked by hand. */
#include "support/test.h"

#include <lathe/draft/feed.h>

#include "support/runs.h"

#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* y = w x. The loss is y itself: a step of rate 1 takes the mean of x from w. */
static const char scalar[] =
    "{'lathe':1,'seed':1,'data':{'train':{'use':'ids','count':6,'inputs':[1,2,3]}},"
    "'model':{'use':'scalar','start':3},'optimizer':{'use':'sgd','lr':1},"
    "'train':{'until':'2ep','batch':6}}";

static void open_well(struct run *run, const char *const *overrides) {
    run_open(run, scalar, overrides);
    if (run->status != LATHE_OK) fail_msg("%s (%s)", run->error.what, run->error.where);
}

static void begin_batch(lathe_session *s) {
    assert_int_equal(lathe_run_begin(s), LATHE_OK);
    assert_int_equal(lathe_epoch_begin(s), LATHE_OK);
    assert_int_equal(lathe_step_begin(s), LATHE_OK);
    assert_int_equal(lathe_batch_begin(s), LATHE_OK);
}

static void end_step(lathe_session *s) {
    assert_int_equal(lathe_forward(s), LATHE_OK);
    assert_int_equal(lathe_backward(s), LATHE_OK);
    assert_int_equal(lathe_batch_begin(s), LATHE_END);
    assert_int_equal(lathe_reduce(s), LATHE_OK);
    assert_int_equal(lathe_update(s), LATHE_OK);
}

/* The teacher's y = 3 x is 3, 6, 9 twice, 6 on average: the student's w goes from 8 to
 * 2, and its loss was 8 * 6. Neither shards nor the teacher's small batches matter. */
static void a_student_learns_what_the_teacher_says(void **state) {
    (void)state;
    static const char *const shards[] = {"train.shards=1", "train.shards=4"};
    for (int i = 0; i < 4; i++) {
        struct run teacher, student;
        lathe_tensor input;
        open_well(&teacher, OVERRIDES(shards[i % 2], "train.batch=4", "seed=9"));
        open_well(&student, OVERRIDES(shards[i / 2], "model.start=8"));
        begin_batch(student.session);
        assert_int_equal(lathe_batch_field(student.session, "input", &input), LATHE_OK);
        assert_int_equal(input.shape[0], 6);
        assert_int_equal(
            lathe_predict_rows(teacher.session, "input", &input, "y", &input),
            LATHE_OK);
        double sum = 0;
        for (int row = 0; row < 6; row++) sum += (double)((float *)input.data)[row];
        assert_true(sum == 36);
        end_step(student.session);
        assert_true(lathe_now(student.session)->loss == 48);
        assert_true(run_weight(&student) == 2);
        assert_true(run_weight(&teacher) == 3);
        run_finish(&student);
        run_finish(&teacher);
    }
}

/* The weights of now, in any place but one; and the session's own training is as if
 * nothing had been asked. */
static void a_model_is_asked_in_the_middle_of_its_run(void **state) {
    (void)state;
    struct run run;
    float x[2] = {1, -2}, y[2];
    lathe_tensor rows = {.data = x,
                         .code = LATHE_FLOAT,
                         .bits = 32,
                         .lanes = 1,
                         .rank = 1,
                         .shape = {2}};
    lathe_tensor into = rows;
    into.data = y;
    open_well(&run, NULL);
    lathe_session *s = run.session;
    assert_int_equal(lathe_predict_rows(s, "input", &rows, "y", &into), LATHE_OK);
    assert_true(y[0] == 3 && y[1] == -6);
    begin_batch(s);
    assert_int_equal(lathe_predict_rows(s, "input", &rows, "y", &into), LATHE_OK);
    assert_int_equal(lathe_forward(s), LATHE_OK);
    assert_int_equal(lathe_predict_rows(s, "input", &rows, "y", &into), LATHE_EINVAL);
    assert_int_equal(lathe_backward(s), LATHE_OK);
    assert_int_equal(lathe_reduce(s), LATHE_OK);
    assert_int_equal(lathe_update(s), LATHE_OK);
    assert_int_equal(lathe_predict_rows(s, "input", &rows, "y", &into), LATHE_OK);
    assert_true(y[0] == 1 && y[1] == -2); /* w = 3 - 2 */
    rows.shape[0] = into.shape[0] = 0;
    assert_int_equal(lathe_predict_rows(s, "input", &rows, "y", &into), LATHE_OK);
    assert_int_equal(lathe_run_end(s, LATHE_OK), LATHE_OK);
    run_finish(&run);
}

static void refused(lathe_session *s, lathe_status status, const char *what,
                    const char *help) {
    assert_int_equal(status, LATHE_EINVAL);
    assert_string_equal(lathe_last_error(s)->what, what);
    if (help) assert_string_equal(lathe_last_error(s)->help, help);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    struct run run;
    float x[6] = {0};
    const lathe_tensor rows = {.data = x,
                               .code = LATHE_FLOAT,
                               .bits = 32,
                               .lanes = 1,
                               .rank = 1,
                               .shape = {6}};
    lathe_tensor other = rows, field = {.rank = 77};
    open_well(&run, NULL);
    lathe_session *s = run.session;
    refused(s, lathe_batch_field(s, "input", &field),
            "lathe_batch_field is called out of its order", NULL);
    begin_batch(s);
    refused(s, lathe_batch_field(s, "inputs", &field), "the data has no \"inputs\"",
            "did you mean \"input\"? There is: id, input, weight");
    assert_int_equal(field.rank, 77);
    refused(s, lathe_predict_rows(s, "x", &rows, "y", &rows), "the data has no \"x\"",
            "there is: id, input, weight");
    refused(s, lathe_predict_rows(s, "input", &rows, "z", &rows),
            "the model has no \"z\"", "there is: y");
    static const char differs[] =
        "the tensor for \"y\" differs from it in type, shape or rows";
    other.shape[0] = 5;
    refused(s, lathe_predict_rows(s, "input", &rows, "y", &other), differs, NULL);
    other = rows;
    other.bits = 64;
    refused(s, lathe_predict_rows(s, "input", &rows, "y", &other), differs, NULL);
    other = rows;
    other.data = NULL;
    refused(s, lathe_predict_rows(s, "input", &rows, "y", &other), differs, NULL);
    other = rows;
    other.rank = 2;
    other.shape[1] = 1;
    refused(s, lathe_predict_rows(s, "input", &other, "y", &rows),
            "the tensor for \"input\" differs from it in type, shape or rows", NULL);
    end_step(s); /* none the worse for it */
    assert_true(run_weight(&run) == 1);
    run_finish(&run);
}

/* A teacher that fails is no failure of the student's, and its run says so. */
static void a_run_that_ends_for_another_s_reason_says_so(void **state) {
    (void)state;
    struct run run;
    open_well(&run, NULL);
    begin_batch(run.session);
    assert_int_equal(lathe_run_end(run.session, LATHE_EIO), LATHE_EIO);
    assert_string_equal(lathe_reason(run.session), "failed");
    assert_string_equal(lathe_last_error(run.session)->what,
                        "the loop ended it, for a reason that is not the run's");
    run_finish(&run);
}

/* Also on the loop's own thread, and only while the model is at work. */
static void rows_are_computed_as_in_training(void **state) {
    (void)state;
    static const char *const arithmetic[] = {"train.denormals=ieee",
                                             "train.denormals=flush"};
    for (int flush = 0; flush <= CAN_FLUSH; flush++) {
        struct run run;
        float x = 1e-40f, y = 7;
        lathe_tensor row = {.data = &x,
                            .code = LATHE_FLOAT,
                            .bits = 32,
                            .lanes = 1,
                            .rank = 1,
                            .shape = {1}};
        lathe_tensor into = row;
        into.data = &y;
        open_well(&run, OVERRIDES(arithmetic[flush]));
        assert_int_equal(lathe_predict_rows(run.session, "input", &row, "y", &into),
                         LATHE_OK);
        assert_true((y == 0) == flush);
        volatile float after = x;
        assert_true(after / 2 > 0);
        run_finish(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_student_learns_what_the_teacher_says),
        cmocka_unit_test(a_model_is_asked_in_the_middle_of_its_run),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(rows_are_computed_as_in_training),
        cmocka_unit_test(a_run_that_ends_for_another_s_reason_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
