/* SPDX-License-Identifier: MIT */
#include "support/scratch.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void text_grows_by_pieces(void **state) {
    (void)state;
    struct text text = {0};
    assert_null(text.data);
    text_add(&text, "");
    assert_string_equal(text.data, "");
    for (int i = 0; i < 1000; i++) text_format(&text, "%d,", i % 10);
    text_add_bytes(&text, "a\0b", 3);
    assert_int_equal(text.length, 2003);
    assert_memory_equal(text.data + 2000, "a\0b", 4);
    char *before = text.data;
    text_clear(&text);
    assert_ptr_equal(text.data, before);
    assert_string_equal(text.data, "");
    assert_false(text.is_broken);
    text_finish(&text);
    assert_null(text.data);
}

static void a_broken_text_stays_as_it_is(void **state) {
    (void)state;
    struct text text = {0};
    text_add(&text, "kept");
    text.is_broken = true;
    text_add(&text, "lost");
    text_format(&text, "%s", "lost");
    assert_string_equal(text.data, "kept");
    text_finish(&text);
}

static void strings_are_escaped(void **state) {
    (void)state;
    struct text text = {0};
    text_json_string(&text, "q\" b\\ n\n t\t e\x1b d\x7f é 😀 bad\xff\xed\xa0\x80.");
    assert_string_equal(text.data,
                        "\"q\\\" b\\\\ n\\n t\\t e\\u001b d\\u007f é 😀 "
                        "bad\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd.\"");
    text_clear(&text);
    text_json_string(&text, NULL);
    assert_string_equal(text.data, "null");
    text_finish(&text);
}

static void an_end_has_something_before_it(void **state) {
    (void)state;
    assert_true(text_ends_with("weights.npy", ".npy"));
    assert_false(text_ends_with(".npy", ".npy"));
    assert_false(text_ends_with("weights.npy.gz", ".npy"));
    assert_false(text_ends_with("py", ".npy"));
}

static void expect_number(double number, const char *full, const char *shortest) {
    struct text text = {0};
    text_json_number(&text, number);
    assert_string_equal(text.data, full);
    text_clear(&text);
    text_json_shortest(&text, number);
    assert_string_equal(text.data, shortest);
    text_finish(&text);
}

static void check_numbers(void) {
    expect_number(0.1, "0.10000000000000001", "0.1");
    expect_number(1, "1", "1");
    expect_number(-2.5, "-2.5", "-2.5");
    expect_number(1e15, "1000000000000000", "1000000000000000");
    expect_number(1e300, "1.0000000000000001e+300", "1e+300");
    expect_number(1.5e-7, "1.4999999999999999e-07", "1.5e-07");
    expect_number(0.1 + 0.2, "0.30000000000000004", "0.30000000000000004");
    expect_number(-0.0, "-0", "-0.0");
    expect_number(NAN, "null", "null");
    expect_number(INFINITY, "null", "null");
    expect_number(-INFINITY, "null", "null");
    const char *end;
    assert_true(text_read_number("1.5e2ep", &end) == 150);
    assert_string_equal(end, "ep");
}

static void numbers_are_spelled_as_json_has_them(void **state) {
    (void)state;
    check_numbers();
}

/* A locale with a decimal comma, compiled for the test where none is installed.
 * Skipped, by name, where that cannot be done either. */
static void numbers_do_not_depend_on_the_locale(void **state) {
    (void)state;
    struct scratch scratch;
    scratch_init(&scratch);
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        scratch_run(&scratch, "{ localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 || true; } "
                              ">log 2>&1");
        setenv("LOCPATH", scratch.directory, 1);
    }
    bool is_set =
        setlocale(LC_ALL, "de_DE.UTF-8") && *localeconv()->decimal_point == ',';
    if (is_set) check_numbers();
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    scratch_finish(&scratch);
    if (is_set) return;
    print_message("no locale with a decimal comma can be had\n");
    skip();
}

static void numbers_are_read_to_their_end(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double number;
        const char *rest;
    } cases[] = {
        {"10ep", 10, "ep"}, {"0.5h", 0.5, "h"},      {"1e3", 1000, ""},
        {"5e", 5, "e"},     {"5e+x", 5, "e+x"},      {"1.", 1, "."},
        {"-3", -3, ""},     {"0x10", 0, "x10"},      {"", 0, ""},
        {"ep", 0, "ep"},    {".5", 0, ".5"},         {"-", 0, "-"},
        {"+1", 0, "+1"},    {" 1", 0, " 1"},         {"nan", 0, "nan"},
        {"inf", 0, "inf"},  {"1e999", INFINITY, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *end;
        double number = text_read_number(cases[i].text, &end);
        if (number != cases[i].number || strcmp(end, cases[i].rest) != 0)
            fail_msg("\"%s\": %g, \"%s\"", cases[i].text, number, end);
    }
}

static void utf8_is_measured(void **state) {
    (void)state;
    assert_int_equal(text_utf8("a", 1), 1);
    assert_int_equal(text_utf8("é", 2), 2);
    assert_int_equal(text_utf8("€", 3), 3);
    assert_int_equal(text_utf8("😀", 4), 4);
    assert_int_equal(text_utf8("😀", 3), 0);
    assert_int_equal(text_utf8("", 0), 0);
    assert_int_equal(text_utf8("\x80", 1), 0);
    assert_int_equal(text_utf8("\xc1\xbf", 2), 0);
    assert_int_equal(text_utf8("\xe0\x9f\xbf", 3), 0);
    assert_int_equal(text_utf8("\xed\xa0\x80", 3), 0);
    assert_int_equal(text_utf8("\xed\x9f\xbf", 3), 3);
    assert_int_equal(text_utf8("\xf0\x8f\xbf\xbf", 4), 0);
    assert_int_equal(text_utf8("\xf4\x8f\xbf\xbf", 4), 4);
    assert_int_equal(text_utf8("\xf4\x90\x80\x80", 4), 0);
    assert_int_equal(text_utf8("\xf5\x80\x80\x80", 4), 0);
}

static void versions_are_two_numbers(void **state) {
    (void)state;
    unsigned version[2];
    assert_true(text_read_version("2.34", version));
    assert_int_equal(version[0], 2);
    assert_int_equal(version[1], 34);
    assert_true(text_read_version("0.9999", version));
    static const char *const others[] = {
        "", "2", "2.", ".2", "2.3.4", "2.3a", " 2.3", "-1.2", "2,3", "2..3", "1.10000"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (text_read_version(others[i], version)) fail_msg("%s", others[i]);
}

static void copies_are_fresh(void **state) {
    (void)state;
    char *copy = text_copy("abc"), *made = text_make("%s-%d", "x", 7);
    assert_string_equal(copy, "abc");
    assert_string_equal(made, "x-7");
    free(copy);
    free(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows_by_pieces),
        cmocka_unit_test(a_broken_text_stays_as_it_is),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(an_end_has_something_before_it),
        cmocka_unit_test(numbers_are_spelled_as_json_has_them),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(numbers_are_read_to_their_end),
        cmocka_unit_test(utf8_is_measured),
        cmocka_unit_test(versions_are_two_numbers),
        cmocka_unit_test(copies_are_fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
