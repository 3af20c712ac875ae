/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

static void fail_tells_what_and_forgets_what_was(void **state) {
    (void)state;
    struct error err = {LATHE_EIO, "old", "old", "old"};
    assert_int_equal(fail(&err, LATHE_EDATA, "row %d of %s", 3, "x"), LATHE_EDATA);
    assert_int_equal(err.status, LATHE_EDATA);
    assert_string_equal(err.what, "row 3 of x");
    assert_string_equal(err.where, "");
    assert_string_equal(err.help, "");
    assert_int_equal(fail(NULL, LATHE_EIO, "lost"), LATHE_EIO);
}

static void where_grows_from_the_inside_out(void **state) {
    (void)state;
    struct error err;
    fail(&err, LATHE_EINVAL, "x");
    error_where(&err, "row %d", 3);
    error_where(&err, "data.csv");
    error_help(&err, "try %s", "this");
    assert_string_equal(err.where, "data.csv: row 3");
    assert_string_equal(err.help, "try this");
    error_where(NULL, "x");
    error_help(NULL, "x");
}

static void arguments_may_be_of_the_error_itself(void **state) {
    (void)state;
    struct error err;
    fail(&err, LATHE_EINVAL, "inner");
    fail(&err, LATHE_EINVAL, "outer: %s", err.what);
    assert_string_equal(err.what, "outer: inner");
    error_help(&err, "%s, %s", err.what, err.help);
    assert_string_equal(err.help, "outer: inner, ");
}

static void text_stays_one_clean_line(void **state) {
    (void)state;
    struct error err;
    fail(&err, LATHE_EINVAL,
         "a\nb\x1b[31m\xff\xc2\x9b"
         "é\x7f");
    assert_string_equal(err.what, "a?b?[31m???é?");
}

static void text_that_is_too_long_is_cut(void **state) {
    (void)state;
    char text[2000];
    struct error err;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    fail(&err, LATHE_EINVAL, "%s", text);
    assert_int_equal(strlen(err.what), sizeof err.what - 1);
    error_where(&err, "inner");
    error_where(&err, "%s", text);
    assert_int_equal(strlen(err.where), sizeof err.where - 1);
    fail(&err, LATHE_EINVAL, "y");
    error_where(&err, "%.300s", text);
    error_where(&err, "%.300s", text);
    assert_int_equal(strlen(err.where), sizeof err.where - 1);
    assert_int_equal(err.where[300], ':');
}

static void a_letter_that_is_cut_in_two_becomes_a_question_mark(void **state) {
    (void)state;
    char text[600] = "";
    struct error err;
    for (int i = 0; i < 255; i++) strcat(text, "é");
    strcat(text, "éé");
    fail(&err, LATHE_EINVAL, "%s", text);
    assert_string_equal(err.what + 510, "?");
}

static void each_status_has_its_exit_code(void **state) {
    (void)state;
    const struct {
        lathe_status status;
        int code;
    } pairs[] = {
        {LATHE_OK, 0},       {LATHE_STOP, 0},         {LATHE_END, 0},
        {LATHE_EINVAL, 78},  {LATHE_ENOMEM, 71},      {LATHE_EIO, 74},
        {LATHE_EDATA, 65},   {LATHE_EPLUGIN, 70},     {LATHE_ENOTFOUND, 66},
        {LATHE_ECREATE, 73}, {LATHE_EPERM, 77},       {LATHE_EMISSING, 69},
        {LATHE_EGATE, 1},    {(lathe_status)-99, 70},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_int_equal(error_exit_code(pairs[i].status), pairs[i].code);
}

static void system_errors_map_to_statuses(void **state) {
    (void)state;
    assert_int_equal(error_from_errno(ENOENT), LATHE_ENOTFOUND);
    assert_int_equal(error_from_errno(EACCES), LATHE_EPERM);
    assert_int_equal(error_from_errno(ENOMEM), LATHE_ENOMEM);
    assert_int_equal(error_from_errno(EMFILE), LATHE_ENOMEM);
    assert_int_equal(error_from_errno(EROFS), LATHE_ECREATE);
    assert_int_equal(error_from_errno(ENOSPC), LATHE_EIO);
}

static void a_list_grows_and_keeps_its_items(void **state) {
    (void)state;
    struct errors errors = {0};
    for (int i = 0; i < 100; i++) {
        struct error *err = errors_add(&errors);
        assert_string_equal(err->what, "");
        fail(err, LATHE_EINVAL, "%d", i);
    }
    assert_int_equal(errors.count, 100);
    assert_string_equal(errors.items[0].what, "0");
    assert_string_equal(errors.items[99].what, "99");
    errors_finish(&errors);
    assert_int_equal(errors.count, 0);
    assert_null(errors.items);
    errors_finish(&errors);
}

static void a_list_ends_with_what_anybody_reads(void **state) {
    (void)state;
    struct errors errors = {0};
    for (int i = 0; i < ERRORS_MAX + 5; i++)
        fail(errors_add(&errors), LATHE_EINVAL, "%d", i);
    assert_int_equal(errors.count, ERRORS_MAX);
    assert_string_equal(errors.items[ERRORS_MAX - 1].what, "1004");
    errors_finish(&errors);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_tells_what_and_forgets_what_was),
        cmocka_unit_test(where_grows_from_the_inside_out),
        cmocka_unit_test(arguments_may_be_of_the_error_itself),
        cmocka_unit_test(text_stays_one_clean_line),
        cmocka_unit_test(text_that_is_too_long_is_cut),
        cmocka_unit_test(a_letter_that_is_cut_in_two_becomes_a_question_mark),
        cmocka_unit_test(each_status_has_its_exit_code),
        cmocka_unit_test(system_errors_map_to_statuses),
        cmocka_unit_test(a_list_grows_and_keeps_its_items),
        cmocka_unit_test(a_list_ends_with_what_anybody_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
