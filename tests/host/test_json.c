/* SPDX-License-Identifier: MIT */
/* tests/host/json/<case>/ holds an input and either the error it must give (what,
 * where, help, a line each) or the output it must be written back as. Adding a case is
 * adding a folder. */
#include "support/test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "json.h"

#define CASES_LEAST 70 /* fewer means that the folder was not found */

/* The text of one file of a case; NULL: it has none. */
static char *read_part(const char *folder, const char *name, const char *part,
                       size_t *length) {
    char *path = text_make("%s/%s/%s", folder, name, part), *content = NULL;
    if (file_read(path, 1 << 20, &content, length, NULL)) content = NULL;
    free(path);
    return content;
}

static char *parse_to_text(const char *input, size_t length) {
    struct json *root = NULL;
    struct error err = {0};
    lathe_status status = json_parse(input, length, "input", &root, &err);
    if (status == LATHE_EINVAL)
        return text_make("%s\n%s\n%s\n", err.what, err.where, err.help);
    assert_int_equal(status, LATHE_OK);
    struct text text = {0};
    json_write(root, &text, 0);
    text_add(&text, "\n");
    json_close(root);
    return text.data;
}

static void check_case(const char *folder, const char *name) {
    size_t length;
    char *input = read_part(folder, name, "input", &length);
    char *error = read_part(folder, name, "error", NULL);
    char *output = read_part(folder, name, "output", NULL);
    const char *wanted = error ? error : output;
    if (!input || !wanted || (error && output)) {
        fail_msg("%s: wants an input and either an error or an output", name);
        return;
    }
    /* In memory of exactly that length, so that reading past the end is found out. */
    char *exact = malloc(length ? length : 1);
    memcpy(exact, input, length);
    char *got = parse_to_text(exact, length);
    if (strcmp(got, wanted) != 0)
        fail_msg("%s: expected\n%sgot\n%s", name, wanted, got);
    free(got);
    free(exact);
    free(input);
    free(error);
    free(output);
}

static void every_case_gives_its_exact_message_or_output(void **state) {
    (void)state;
    char *folder = text_make("%s/tests/host/json", getenv("SOURCE"));
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort), checked = 0;
    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] != '.') {
            check_case(folder, names[i]->d_name);
            checked++;
        }
        free(names[i]);
    }
    if (count >= 0) free(names);
    free(folder);
    assert_in_range(checked, CASES_LEAST, 10000);
}

static void a_hundred_thousand_brackets_are_refused(void **state) {
    (void)state;
    static char brackets[100000];
    struct json *root = NULL;
    struct error err = {0};
    memset(brackets, '[', sizeof brackets);
    assert_int_equal(json_parse(brackets, sizeof brackets, "f", &root, &err),
                     LATHE_EINVAL);
    assert_string_equal(err.what, "nested deeper than 64 levels");
    assert_string_equal(err.where, "f:1:65");
    for (size_t i = 0; i < sizeof brackets; i++) brackets[i] = "{\"a\":"[i % 5];
    assert_int_equal(json_parse(brackets, sizeof brackets, "f", &root, &err),
                     LATHE_EINVAL);
    assert_string_equal(err.where, "f:1:321");
    assert_null(root);
}

static void every_prefix_of_a_text_is_refused_without_reading_past_it(void **state) {
    (void)state;
    const char whole[] =
        "{\"a\\\\\\u00e9\\ud83d\\ude00é\": [1.5e3, -0, true, null, \"x\"]}";
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        char *exact = malloc(length ? length : 1);
        struct json *root = NULL;
        struct error err = {0};
        memcpy(exact, whole, length);
        assert_int_equal(json_parse(exact, length, NULL, &root, &err), LATHE_EINVAL);
        assert_true(err.what[0] && err.where[0]);
        free(exact);
    }
}

static void a_file_is_named_with_line_and_column(void **state) {
    (void)state;
    char path[] = "/tmp/lathe-json-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(file_write(fd, "{\n \"a\": tru\n}", 13, path, NULL), LATHE_OK);
    struct json *root = NULL;
    struct error err = {0};
    assert_int_equal(json_read(path, &root, &err), LATHE_EINVAL);
    char where[64];
    snprintf(where, sizeof where, "%s:2:7", path);
    assert_string_equal(err.where, where);
    assert_string_equal(err.what, "tru is not a value of JSON");
    close(fd);
    unlink(path);
    assert_int_equal(json_read(path, &root, &err), LATHE_ENOTFOUND);
}

static struct json *parse(const char *text) {
    struct json *root = NULL;
    assert_int_equal(json_parse(text, strlen(text), "text", &root, NULL), LATHE_OK);
    return root;
}

static void reading_what_is_not_there_gives_nothing(void **state) {
    (void)state;
    assert_int_equal(json_kind(NULL), JSON_NULL_KIND);
    assert_int_equal(json_size(NULL), 0);
    assert_null(json_get(json_at(json_get(NULL, "a"), 3), "b"));
    assert_string_equal(json_text(NULL), "");
    assert_true(json_number(NULL) == 0 && json_whole(NULL) == 0 && !json_truth(NULL));
    struct json *list = parse("[1, \"x\"]");
    assert_null(json_at(list, 2));
    assert_null(json_key_at(list, 0));
    assert_false(json_next(list, &(struct json_member){0}));
    assert_false(json_next(NULL, &(struct json_member){0}));
    assert_null(json_get(list, "a"));
    assert_string_equal(json_text(json_at(list, 0)), "");
    assert_true(json_number(json_at(list, 1)) == 0);
    json_close(list);
    json_close(NULL);
}

static void members_keep_the_order_of_their_file(void **state) {
    (void)state;
    struct json *map =
        parse("{\"z\": 1, \"a\": true, \"m\": [], \"b\": {\"x\": null}}");
    const char *const keys[] = {"z", "a", "m", "b", "later"};
    const enum json_kind kinds[] = {JSON_NUMBER, JSON_BOOLEAN, JSON_LIST, JSON_MAP};
    assert_int_equal(json_size(map), 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(json_key_at(map, i), keys[i]);
        assert_int_equal(json_kind(json_at(map, i)), kinds[i]);
    }
    assert_null(json_key_at(map, 4));
    struct json_member at = {0};
    for (size_t i = 0; json_next(map, &at); i++) {
        assert_string_equal(at.key, keys[i]);
        assert_ptr_equal(at.value, json_at(map, i));
        if (i == 0) assert_true(json_put(map, "later", json_make_whole(1)));
    }
    assert_string_equal(at.key, "later");
    assert_true(json_number(json_get(map, "a")) == 1);
    json_close(map);
}

static void one_point_zero_is_whole_and_a_half_is_not(void **state) {
    (void)state;
    struct json *list =
        parse("[1, 1.0, 1e3, 0.5, -2.0, 1e300, 9223372036854775807, \"1\"]");
    const bool is_whole[] = {true, true, true, false, true, false, true, false};
    for (size_t i = 0; i < json_size(list); i++)
        assert_int_equal(json_is_whole(json_at(list, i)), is_whole[i]);
    assert_int_equal(json_whole(json_at(list, 1)), 1);
    assert_int_equal(json_whole(json_at(list, 2)), 1000);
    assert_true(json_whole(json_at(list, 5)) == INT64_MAX);
    assert_true(json_whole(json_at(list, 6)) == INT64_MAX);
    json_close(list);
}

static void sameness_ignores_order_of_members_and_spelling_of_numbers(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool is_same;
    } pairs[] = {
        {"1", "1.0", true},
        {"0.1", "1e-1", true},
        {"1", "\"1\"", false},
        {"9007199254740993", "9007199254740992.0", false},
        {"{\"a\": 1, \"b\": [2, null]}", "{\"b\": [2.0, null], \"a\": 1}", true},
        {"{\"a\": 1}", "{\"b\": 1}", false},
        {"{\"a\": null}", "{\"b\": null}", false},
        {"[1, 2]", "[2, 1]", false},
        {"[1, 2]", "[1]", false},
        {"[]", "{}", false},
        {"true", "false", false},
        {"null", "null", true},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct json *a = parse(pairs[i].a), *b = parse(pairs[i].b);
        if (json_same(a, b) != pairs[i].is_same || json_same(b, a) != pairs[i].is_same)
            fail_msg("%s and %s", pairs[i].a, pairs[i].b);
        json_close(a);
        json_close(b);
    }
}

static void trees_can_be_made_changed_and_written(void **state) {
    (void)state;
    struct json *map = json_make_map(), *list = json_make_list();
    assert_true(json_push(list, json_make_whole(1)));
    assert_true(json_push(list, json_make_number(0.25)));
    assert_true(json_push(list, json_make_number(NAN)));
    assert_true(json_replace_at(list, 0, json_make_truth(true)));
    assert_false(json_replace_at(list, 9, json_make_truth(true)));
    assert_true(json_put(map, "list", list));
    assert_true(json_put(map, "text", json_make_text("a\"b\xff")));
    assert_false(json_put(map, "none", NULL));
    struct json *copy = json_clone(map);
    assert_true(json_put(copy, "text", json_make_text("other")));
    struct text text = {0};
    json_write(map, &text, 0);
    assert_string_equal(text.data, "{\"list\":[true,0.25,null],\"text\":\"a\\\"b?\"}");
    text_clear(&text);
    json_write(copy, &text, 2);
    assert_string_equal(text.data,
                        "{\n  \"list\": [\n    true,\n    0.25,\n    null\n  ],\n"
                        "  \"text\": \"other\"\n}");
    text_finish(&text);
    json_close(copy);
    json_close(map);
}

static void what_is_built_is_whole_or_nothing(void **state) {
    (void)state;
    struct json *list = json_append(json_make_list(), json_make_whole(1));
    struct json *map = JSON_MAP_OF({"first", list}, {"second", json_make_text("b")});
    struct text text = {0};
    json_write_document(json_add(map, "third", json_make_truth(true)), &text, 0);
    assert_string_equal(text.data, "{\"first\":[1],\"second\":\"b\",\"third\":true}\n");
    assert_null(JSON_MAP_OF({"none", NULL}, {"closed", json_make_whole(1)}));
    assert_null(json_add(json_make_map(), "none", NULL));
    assert_null(json_add(NULL, "closed", json_make_whole(1)));
    assert_null(json_append(json_make_list(), NULL));
    assert_null(json_append(NULL, json_make_whole(1)));
    json_write_document(NULL, &text, 0);
    assert_true(text.is_broken);
    text_finish(&text);
}

static void writing_gives_up_on_depth_instead_of_recursing(void **state) {
    (void)state;
    struct json *tree = json_make_list();
    for (int i = 0; i < 1000; i++) {
        struct json *outer = json_make_list();
        json_push(outer, tree);
        tree = outer;
    }
    struct text text = {0};
    json_write(tree, &text, 0);
    assert_true(text.is_broken);
    text_finish(&text);
    json_close(tree);
}

static void every_double_comes_back_as_it_was_written(void **state) {
    (void)state;
    uint64_t bits = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 20000; i++) {
        double number, back;
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number)) continue;
        struct json *made = json_make_number(number);
        struct text text = {0};
        json_write(made, &text, 0);
        struct json *read = parse(text.data);
        back = json_number(read);
        assert_memory_equal(&back, &number, sizeof back);
        json_close(read);
        json_close(made);
        text_finish(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_gives_its_exact_message_or_output),
        cmocka_unit_test(a_hundred_thousand_brackets_are_refused),
        cmocka_unit_test(every_prefix_of_a_text_is_refused_without_reading_past_it),
        cmocka_unit_test(a_file_is_named_with_line_and_column),
        cmocka_unit_test(reading_what_is_not_there_gives_nothing),
        cmocka_unit_test(members_keep_the_order_of_their_file),
        cmocka_unit_test(one_point_zero_is_whole_and_a_half_is_not),
        cmocka_unit_test(sameness_ignores_order_of_members_and_spelling_of_numbers),
        cmocka_unit_test(trees_can_be_made_changed_and_written),
        cmocka_unit_test(what_is_built_is_whole_or_nothing),
        cmocka_unit_test(writing_gives_up_on_depth_instead_of_recursing),
        cmocka_unit_test(every_double_comes_back_as_it_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
