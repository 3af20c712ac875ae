/* SPDX-License-Identifier: MIT */
/* What csv writes. */
#include "csv.h"

static void a_row_for_each_validation(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    rows_from(&f, 5, 2);
    assert_int_equal(end_epoch(&f, 10), LATHE_OK);
    assert_int_equal(validate(&f, "test", 10), LATHE_OK);
    f.metrics[0].value = 1.0 / 3;
    rows_from(&f, 20, 1);
    /* Read while the run goes on: rows are there at once. */
    expect_file(&f, HEADER "1,5,2,1.25\n1,6,2,1.5\n3,20,0.333333333,5\n");
    finish(&f);
}

static void a_row_for_each_epoch_without_validation(void **state) {
    (void)state;
    struct fixture f;
    memset(&f, 0, sizeof f);
    scratch_init(&f.scratch);
    add_metric(&f, "train/loss", 2, 0);
    add_metric(&f, "test/loss", NAN, -1);
    assert_int_equal(begin_at(&f, 0), LATHE_OK);
    assert_int_equal(end_epoch(&f, 10), LATHE_OK);
    f.metrics[0].value = 1e-12;
    assert_int_equal(end_epoch(&f, 20), LATHE_OK);
    assert_int_equal(validate(&f, "test", 20), LATHE_OK);
    expect_file(&f, "epoch,step,train/loss\n1,10,2\n2,20,1e-12\n");
    finish(&f);
}

static void columns_are_those_of_the_first_row(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    f.metrics[0].step = -1; /* no record of training yet */
    add_metric(&f, "validation/late", NAN, -1);
    add_metric(&f, "validation/a \"b\", c", -INFINITY, 0);
    rows_from(&f, 5, 1);
    f.metrics[0].step = f.metrics[3].step = 6;
    f.metrics[0].value = NAN;
    f.metrics[4].value = INFINITY;
    rows_from(&f, 6, 1);
    expect_file(&f,
                "epoch,step,train/loss,validation/loss,\"validation/a \"\"b\"\", c\"\n"
                "1,5,,1.25,-inf\n1,6,nan,1.5,inf\n");
    finish(&f);
}

/* A step that was skipped ends an epoch too, and is validated again. */
static void validations_of_one_step_have_a_row_each(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    rows_from(&f, 5, 1);
    rows_from(&f, 5, 1);
    expect_file(&f, HEADER "1,5,2,1.25\n1,5,2,1.25\n");
    finish(&f);
}

static void no_directory_is_said_once(void **state) {
    (void)state;
    struct fixture f;
    memset(&f, 0, sizeof f);
    scratch_init(&f.scratch);
    f.is_homeless = 1;
    assert_int_equal(begin_at(&f, 0), LATHE_OK);
    assert_int_equal(end_epoch(&f, 10), LATHE_OK);
    assert_int_equal(validate(&f, "validation", 10), LATHE_OK);
    assert_int_equal(f.logged, 1);
    assert_string_equal(f.host.logged,
                        "the run has no directory: results.csv is not written");
    finish(&f);
}

static void a_name_is_not_a_path(void **state) {
    (void)state;
    const char *const names[] = {"/etc/results.csv", "../results.csv", "a/b", "..",
                                 "."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct fixture f;
        char options[64];
        memset(&f, 0, sizeof f);
        snprintf(options, sizeof options, "{\"file\": \"%s\"}", names[i]);
        assert_int_equal(create_with(&f, options), LATHE_EINVAL);
        assert_non_null(strstr(f.host.failure, "a name without a path"));
        fake_host_finish(&f.host);
    }
}

/* ---- failures ---- */

static void a_directory_that_is_gone_fails_the_run(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    end_process(&f);
    char directory[256];
    strcpy(directory, f.scratch.directory);
    strcat(f.scratch.directory, "/gone");
    assert_int_equal(begin_at(&f, 0), LATHE_ECREATE);
    assert_non_null(strstr(f.host.failure, "results.csv cannot be created in "));
    strcpy(f.scratch.directory, directory);
    finish(&f);
}

static void a_full_disk_fails_the_run(void **state) {
    (void)state;
    struct fixture f;
    struct csv *csv;
    begin(&f);
    csv = f.self;
    rows_from(&f, 5, 1);
    int full = open("/dev/full", O_RDWR | O_APPEND);
    if (full < 0) fail_msg("there is no /dev/full");
    dup2(full, csv->fd);
    close(full);
    assert_int_equal(validate(&f, "validation", 6), LATHE_EIO);
    assert_string_equal(f.host.failure,
                        "a row of results.csv cannot be written: No space "
                        "left on device");
    expect_file(&f, HEADER "1,5,2,1.25\n");
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_for_each_validation),
        cmocka_unit_test(a_row_for_each_epoch_without_validation),
        cmocka_unit_test(columns_are_those_of_the_first_row),
        cmocka_unit_test(validations_of_one_step_have_a_row_each),
        cmocka_unit_test(no_directory_is_said_once),
        cmocka_unit_test(a_name_is_not_a_path),
        cmocka_unit_test(a_directory_that_is_gone_fails_the_run),
        cmocka_unit_test(a_full_disk_fails_the_run),
    };
    return cmocka_run_group_tests_name("csv callback", tests, NULL, NULL);
}
