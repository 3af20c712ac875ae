/* SPDX-License-Identifier: MIT */
/* The grammar of RFC 4180 and of decimal numbers. */
#include "../../../plugins/dataset/csv/csv_parse.c"

#include "support/test.h"

#include <stdbool.h>

/* Writes all records as "a|b/c|d/", or "!fault@line" at the end. */
static const char *parse(const char *text, size_t count) {
    static char shown[512];
    struct csv_cursor cursor = csv_begin(text, (int64_t)count, ',');
    struct csv_field fields[8];
    int64_t found;
    size_t used = 0;
    shown[0] = 0;
    while ((found = csv_next(&cursor, fields, 8)) > 0)
        for (int64_t i = 0; i < found; i++) {
            used += csv_text(&fields[i], shown + used, sizeof shown - used);
            shown[used++] = i + 1 < found ? '|' : '/';
            shown[used] = 0;
        }
    if (found < 0)
        snprintf(shown + used, sizeof shown - used, "!%s@%lld", cursor.fault,
                 (long long)cursor.line);
    return shown;
}

static void records_and_fields(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"a,b", "a|b/"},
        {"a,b\n", "a|b/"},
        {"a,b\r\nc,d\r\n", "a|b/c|d/"},
        {"a,b\nc,d\n\n\r\n", "a|b/c|d/"},
        {"a\r", "a/"},
        {"\xEF\xBB\xBF"
         "a,b\n",
         "a|b/"},
        {" a , b \n", " a | b /"},
        {",\n", "|/"},
        {"a,\n,b\n", "a|/|b/"},
        {"a\n\nb\n", "a//b/"},
        {"\"a\",\"\"\n", "a|/"},
        {"\"a,b\",\"c\nd\"\n", "a,b|c\nd/"},
        {"\"a\r\nb\",c\n", "a\r\nb|c/"},
        {"\"say \"\"hi\"\"\",\"\"\"\"\n", "say \"hi\"|\"/"},
        {"\"a\"", "a/"},
        {"caf\xC3\xA9,\xE2\x82\xAC\n", "caf\xC3\xA9|\xE2\x82\xAC/"},
        {"a,b\"c\n", "!a quote inside a field that does not start with one@1"},
        {"a\n\"b\"c\n", "a/!text after a closing quote@2"},
        {"a\n\"b\" ,c\n", "a/!text after a closing quote@2"},
        {"a\n\"b\n\nc", "a/!the quote that opens here is never closed@2"},
        {"a\rb\n", "!a CR that is not followed by LF@1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(parse(cases[i][0], strlen(cases[i][0])), cases[i][1]);
    assert_string_equal(parse("a\0b", 3), "!a NUL byte; is this text?@1");
    assert_string_equal(parse("\"a\0b\"", 5), "!a NUL byte; is this text?@1");
    assert_string_equal(parse("\xEF\xBB", 2), "\xEF\xBB/");
}

/* Every prefix of a hard text ends well: nothing is read past the end. */
static void every_prefix_is_read_within_its_bounds(void **state) {
    (void)state;
    static const char text[] = "\xEF\xBB\xBF"
                               "a,\"b\"\"c\r\nd\",\r\n\"\",e\n\r\n\"x";
    for (size_t count = 0; count < sizeof text; count++) {
        char *copy = malloc(count ? count : 1);
        memcpy(copy, text, count);
        parse(copy, count);
        free(copy);
    }
}

static int compare(const char *a, bool a_escapes, const char *b, bool b_escapes) {
    struct csv_field first = {a, (uint32_t)strlen(a), a_escapes};
    struct csv_field second = {b, (uint32_t)strlen(b), b_escapes};
    int order = csv_compare(&first, &second);
    return (order > 0) - (order < 0);
}

static void contents_are_ordered_by_their_bytes(void **state) {
    (void)state;
    assert_int_equal(compare("a", 0, "a", 0), 0);
    assert_int_equal(compare("a", 0, "b", 0), -1);
    assert_int_equal(compare("ab", 0, "a", 0), 1);
    assert_int_equal(compare("", 0, "a", 0), -1);
    assert_int_equal(compare("\xC3\xA9", 0, "z", 0), 1);
    assert_int_equal(compare("a\"\"b", 1, "a\"b", 0), 0);
    assert_int_equal(compare("a\"\"", 1, "a\"b", 0), -1);
}

static void text_that_does_not_fit_is_cut(void **state) {
    (void)state;
    char text[4];
    struct csv_field field = {"abcdef", 6, 0};
    assert_int_equal(csv_text(&field, text, sizeof text), 6);
    assert_string_equal(text, "abc");
}

static enum csv_number number_of(const char *text, float *number) {
    struct csv_field field = {text, (uint32_t)strlen(text), 0};
    return csv_read_number(&field, number);
}

static void numbers_are_rounded_as_strtof_does(void **state) {
    (void)state;
    static const char *const cases[] = {
        "0",
        "-0",
        "1",
        "+1",
        "5.1",
        ".5",
        "5.",
        "007",
        "0.0001",
        "1e3",
        "1E-3",
        "1e+3",
        "-2.5e-1",
        "16777217",
        "16777219",
        "3.4028234e38",
        "1e-45",
        "1e-60",
        "1.17549435e-38",
        "123456789012345678901234567890",
        "0.1000000000000000055511151231257827",
        "8388608.5",
        "8388609.5",
        "33554434.0000000000000000000000000000000000001",
        "33554434.0000000000000000000000000000000000000",
        "0e99999999999",
        "0.3333333333333",
        "9999999e-10",
        "1234567e-3",
        "0.000000000000000000000000000000000000000000001234",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float number, expected = strtof(cases[i], NULL);
        assert_int_equal(number_of(cases[i], &number), CSV_NUMBER);
        if (memcmp(&number, &expected, sizeof number) != 0)
            fail_msg("%s is %.9g, not %.9g", cases[i], (double)number,
                     (double)expected);
    }
}

static void many_decimals_agree_with_strtof(void **state) {
    (void)state;
    unsigned seed = 1;
    for (int i = 0; i < 200000; i++) {
        char text[40];
        float number;
        seed = seed * 1664525u + 1013904223u;
        snprintf(text, sizeof text, "%s%u.%0*ue%d", seed & 1 ? "-" : "", seed >> 12,
                 1 + (int)(seed % 8), (seed * 7919u) % 10, (int)(seed >> 8) % 12 - 6);
        float expected = strtof(text, NULL);
        assert_int_equal(number_of(text, &number), CSV_NUMBER);
        if (memcmp(&number, &expected, sizeof number) != 0)
            fail_msg("%s is %.9g, not %.9g", text, (double)number, (double)expected);
    }
}

static void blanks_around_a_number_are_allowed(void **state) {
    (void)state;
    float number;
    assert_int_equal(number_of(" \t1.5 ", &number), CSV_NUMBER);
    assert_true(number == 1.5f);
}

static void what_is_no_number_is_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum csv_number kind;
    } cases[] = {
        {"abc", CSV_NOT_A_NUMBER},   {"1,5", CSV_NOT_A_NUMBER},
        {"0x10", CSV_NOT_A_NUMBER},  {"1 2", CSV_NOT_A_NUMBER},
        {"1e", CSV_NOT_A_NUMBER},    {"1e+", CSV_NOT_A_NUMBER},
        {".", CSV_NOT_A_NUMBER},     {"-", CSV_MISSING},
        {"--1", CSV_NOT_A_NUMBER},   {"1.2.3", CSV_NOT_A_NUMBER},
        {"nanx", CSV_NOT_A_NUMBER},  {"e5", CSV_NOT_A_NUMBER},
        {"", CSV_MISSING},           {"  ", CSV_MISSING},
        {"nan", CSV_MISSING},        {"NaN", CSV_MISSING},
        {"-nan", CSV_MISSING},       {"NA", CSV_MISSING},
        {"?", CSV_MISSING},          {"inf", CSV_INFINITE},
        {"-Infinity", CSV_INFINITE}, {"1e39", CSV_INFINITE},
        {"-3.5e38", CSV_INFINITE},   {"1e999999999", CSV_INFINITE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float number;
        if (number_of(cases[i].text, &number) != cases[i].kind)
            fail_msg("\"%s\" is taken for something else", cases[i].text);
    }
}

static void names_have_distances(void **state) {
    (void)state;
    assert_int_equal(csv_distance("", ""), 0);
    assert_int_equal(csv_distance("label", "label"), 0);
    assert_int_equal(csv_distance("label", "lable"), 2);
    assert_int_equal(csv_distance("kitten", "sitting"), 3);
    assert_int_equal(csv_distance("", "abc"), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_and_fields),
        cmocka_unit_test(every_prefix_is_read_within_its_bounds),
        cmocka_unit_test(contents_are_ordered_by_their_bytes),
        cmocka_unit_test(text_that_does_not_fit_is_cut),
        cmocka_unit_test(numbers_are_rounded_as_strtof_does),
        cmocka_unit_test(many_decimals_agree_with_strtof),
        cmocka_unit_test(blanks_around_a_number_are_allowed),
        cmocka_unit_test(what_is_no_number_is_told_apart),
        cmocka_unit_test(names_have_distances),
    };
    return cmocka_run_group_tests_name("csv_parse", tests, NULL, NULL);
}
