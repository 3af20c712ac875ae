/* SPDX-License-Identifier: MIT */
/* tests/host/options/<group>.json holds cases. Each has a "schema" and a "value", or a
 * plugin's "options" (and its "owner") and a "value"; "path" is where the value stands.
 * Without a value, the schema itself is checked. "errors" are what must be reported,
 * all of it in that order: [where, what, help]; "becomes" is the value with its
 * defaults. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "options.h"

#define FILE_NAME "x.json"

/* The hook notes what it is asked about, as an error. */
static void note_format(void *context, const char *format, const char *path,
                        struct json *value) {
    struct text shown = {0};
    json_write(value, &shown, 0);
    struct error *err = errors_add(context);
    fail(err, LATHE_EINVAL, "format %s: %s", format, shown.data);
    error_where(err, "%s", path);
    text_finish(&shown);
}

static void add_error(struct text *text, const char *where, const char *what,
                      const char *help) {
    text_format(text, "  %s | %s | %s\n", where, what, help);
}

static void run_case(const struct json *test, struct errors *errors,
                     struct json *value) {
    static const char *const reserved[] = {"use", "id", NULL};
    const struct option_check check = {errors, FILE_NAME, note_format, errors};
    const struct json *options = json_get(test, "options");
    const char *path = json_text(json_get(test, "path"));
    if (options)
        options_check_members(options, value, path, reserved,
                              json_text(json_get(test, "owner")), &check);
    else if (json_get(test, "value"))
        options_check(json_get(test, "schema"), value, path, &check);
    else
        options_check_schema(json_get(test, "schema"), path, &check);
}

static void check_case(const char *group, const struct json *test) {
    const char *name = json_text(json_get(test, "name"));
    struct json *value = json_clone(json_get(test, "value"));
    const struct json *becomes = json_get(test, "becomes");
    struct errors errors = {0};
    struct text expected = {0}, got = {0};
    run_case(test, &errors, value);
    const struct json *wanted = json_get(test, "errors");
    for (size_t i = 0; i < json_size(wanted); i++) {
        const struct json *error = json_at(wanted, i);
        add_error(&expected, json_text(json_at(error, 0)), json_text(json_at(error, 1)),
                  json_text(json_at(error, 2)));
    }
    for (size_t i = 0; i < errors.count; i++) {
        const struct error *err = &errors.items[i];
        assert_int_equal(err->status, LATHE_EINVAL);
        add_error(&got, err->where, err->what, err->help);
    }
    const char *a = expected.data ? expected.data : "", *b = got.data ? got.data : "";
    if (strcmp(a, b) != 0) {
        /* Each on its own: cmocka prints 1 KiB at a time. */
        print_error("expected\n%s", a);
        print_error("got\n%s", b);
        fail_msg("%s: %s", group, name);
    }
    if (becomes && !json_same(becomes, value)) {
        text_clear(&got);
        json_write(value, &got, 2);
        fail_msg("%s, %s: became\n%s", group, name, got.data);
    }
    text_finish(&expected);
    text_finish(&got);
    errors_finish(&errors);
    json_close(value);
}

/* Each test's state is the name of its group. */
static void every_case_of_the_group_reports_exactly_that(void **state) {
    const char *group = *state;
    char *path = text_make("%s/tests/host/options/%s.json", getenv("SOURCE"), group);
    struct json *cases = NULL;
    struct error err = {0};
    if (json_read(path, &cases, &err)) fail_msg("%s: %s", err.where, err.what);
    assert_in_range(json_size(cases), 5, 1000);
    for (size_t i = 0; i < json_size(cases); i++) check_case(group, json_at(cases, i));
    json_close(cases);
    free(path);
}

static struct json *parse(const char *text) {
    struct json *root = NULL;
    struct error err = {0};
    if (json_parse(text, strlen(text), "text", &root, &err))
        fail_msg("%s: %s", err.where, err.what);
    return root;
}

static void durations_are_read_whichever_way_they_are_spelled(void **state) {
    (void)state;
    struct json *one = parse("\"10ep\""), *list = parse("[\"10ep\", \"30min\"]");
    struct json *off = parse("\"off\"");
    struct durations durations;
    options_durations(one, &durations);
    assert_int_equal(durations.count, 1);
    assert_int_equal(durations.items[0].unit, DURATION_EPOCHS);
    options_durations(list, &durations);
    assert_int_equal(durations.count, 2);
    assert_int_equal(durations.items[1].unit, DURATION_SECONDS);
    assert_true(durations.items[1].amount == 1800);
    options_durations(off, &durations);
    assert_int_equal(durations.count, 0);
    options_durations(NULL, &durations);
    assert_int_equal(durations.count, 0);
    json_close(one);
    json_close(list);
    json_close(off);
}

static void values_are_found_by_their_path(void **state) {
    (void)state;
    struct json *object = parse("{\"lr\": 1, \"layers\": [{\"n\": 2}, {\"n\": 3}]}");
    assert_int_equal(json_whole(options_find(object, "lr")), 1);
    assert_int_equal(json_whole(options_find(object, "layers/1/n")), 3);
    assert_int_equal(json_size(options_find(object, "layers")), 2);
    static const char *const absent[] = {
        "no",   "layers/2", "layers/2/n", "layers/x",  "layers/0/m",
        "lr/x", "/lr",      "layers//0",  "layers/-1", "layers/99999999999999999999"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_null(options_find(object, absent[i]));
    assert_null(options_find(NULL, "lr"));
    json_close(object);
}

static void declarations_are_found_by_the_same_path(void **state) {
    (void)state;
    struct json *options = parse(
        "{\"lr\": {\"type\": \"number\"},"
        " \"layers\": {\"type\": \"array\", \"items\": {\"oneOf\": ["
        "  {\"properties\": {\"kind\": {\"const\": \"conv\"}, \"n\": {\"minimum\": "
        "5}}},"
        "  {\"properties\": {\"kind\": {\"const\": \"pool\"}, \"m\": {\"minimum\": 6}}}"
        " ]}}}");
    assert_string_equal(json_text(json_get(options_declaration(options, "lr"), "type")),
                        "number");
    assert_non_null(options_declaration(options, "layers"));
    const struct json *n = options_declaration(options, "layers/7/n");
    const struct json *m = options_declaration(options, "layers/0/m");
    assert_int_equal(json_whole(json_get(n, "minimum")), 5);
    assert_int_equal(json_whole(json_get(m, "minimum")), 6);
    static const char *const absent[] = {"",     "no",       "lr/x",
                                         "lr/0", "layers/n", "layers/0/x"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_null(options_declaration(options, absent[i]));
    json_close(options);
}

static void schemas_are_described_in_a_line(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"{\"type\": \"number\", \"exclusiveMinimum\": 0, \"default\": 0.001}",
         "number, > 0, default 0.001"},
        {"{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 8}",
         "integer, >= 1, <= 8"},
        {"{\"enum\": [\"relu\", \"gelu\"], \"default\": \"relu\"}",
         "one of \"relu\", \"gelu\", default \"relu\""},
        {"{\"const\": 1}", "1"},
        {"{\"type\": \"array\", \"items\": {\"type\": \"integer\", \"minimum\": 1},"
         " \"minItems\": 1}",
         "array of (integer, >= 1), at least 1 item"},
        {"{\"type\": \"array\", \"minItems\": 2, \"maxItems\": 2}", "array, 2 items"},
        {"{\"format\": \"duration\"}", "duration, such as \"10ep\" or \"500step\""},
        {"{\"type\": \"object\", \"format\": \"plugin:model\"}",
         "{\"use\": (name of the model)}"},
        {"{\"type\": \"object\", \"format\": \"data\"}", "{\"train\": {\"use\": …}}"},
        {"{\"format\": \"interval\", \"default\": \"off\"}",
         "duration, such as \"1ep\", or \"off\", default \"off\""},
        {"{\"type\": \"string\", \"format\": \"path\", \"minLength\": 1,"
         " \"optional\": true}",
         "string path, not empty, optional"},
        {"{\"type\": [\"string\", \"array\"]}", "string or array"},
        {"{\"oneOf\": [{\"properties\": {\"kind\": {\"const\": \"a\"}}},"
         " {\"properties\": {\"kind\": {\"const\": \"b\"}}}]}",
         "object with \"kind\" one of \"a\", \"b\""},
        {"{}", "any"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct json *schema = parse(pairs[i][0]);
        struct text text = {0};
        options_describe(schema, &text);
        assert_string_equal(text.data, pairs[i][1]);
        text_finish(&text);
        json_close(schema);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        {"values", every_case_of_the_group_reports_exactly_that, NULL, NULL, "values"},
        {"durations", every_case_of_the_group_reports_exactly_that, NULL, NULL,
         "durations"},
        {"objects", every_case_of_the_group_reports_exactly_that, NULL, NULL,
         "objects"},
        {"plugins", every_case_of_the_group_reports_exactly_that, NULL, NULL,
         "plugins"},
        {"schemas", every_case_of_the_group_reports_exactly_that, NULL, NULL,
         "schemas"},
        cmocka_unit_test(durations_are_read_whichever_way_they_are_spelled),
        cmocka_unit_test(values_are_found_by_their_path),
        cmocka_unit_test(declarations_are_found_by_the_same_path),
        cmocka_unit_test(schemas_are_described_in_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
