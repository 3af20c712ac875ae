/* SPDX-License-Identifier: MIT */
/* A text is [schema, value, path]. A schema that was accepted can be described and
 * takes or refuses any value, with reasons; a value that was taken and completed is
 * taken again as it is. */
#include "fuzz.h"

#include "options.h"

static void see_format(void *context, const char *format, const char *path,
                       struct json *value) {
    (void)value;
    size_t *sum = context;
    *sum += strlen(format) + strlen(path);
}

/* How many there were; they are gone after it. */
static size_t check_errors(struct errors *errors) {
    size_t count = errors->count;
    for (size_t i = 0; i < count; i++) fuzz_check_error(&errors->items[i]);
    errors_finish(errors);
    return count;
}

static void check_value(const struct json *schema, struct json *value,
                        struct option_check *check) {
    options_check(schema, value, "value", check);
    if (check_errors(check->errors)) return;
    struct json *copy = json_clone(value);
    options_check(schema, copy, "value", check);
    FUZZ_CHECK(check_errors(check->errors) == 0);
    FUZZ_CHECK(json_same(value, copy));
    json_close(copy);
    if (strcmp(json_text(json_get(schema, "format")), "duration") != 0) return;
    struct durations durations = {0};
    options_durations(value, &durations);
    FUZZ_CHECK(durations.count >= 0 && durations.count <= DURATION_LIST_MAX);
}

/* The same schema as that of a plugin's only option. */
static void check_member(const struct json *schema, const struct json *value,
                         const char *path, const struct option_check *check) {
    static const char *const reserved[] = {"use", "id", NULL};
    struct json *options = json_make_map(), *object = json_make_map();
    FUZZ_CHECK(json_put(options, "a", json_clone(schema)));
    if (value) FUZZ_CHECK(json_put(object, "a", json_clone(value)));
    options_check_members(options, object, "", reserved, "callback x", check);
    /* What is there and was checked is declared. */
    if (check_errors(check->errors) == 0 && path[0] && options_find(object, path))
        FUZZ_CHECK(options_declaration(options, path) ||
                   strchr(path, '/')); /* an object without "properties" has any */
    options_declaration(options, path);
    json_close(object);
    json_close(options);
}

static void check_pair(const struct json *schema, struct json *value,
                       const char *path) {
    size_t sum = 0;
    struct errors errors = {0};
    struct text text = {0};
    struct option_check check = {
        .errors = &errors, .file = "file", .format = see_format, .context = &sum};
    options_check_schema(schema, "schema", &check);
    FUZZ_CHECK(sum == 0); /* the hook is not called */
    if (check_errors(&errors)) return;
    options_describe(schema, &text);
    FUZZ_CHECK(!text.is_broken);
    text_finish(&text);
    check_member(schema, NULL, path, &check);
    check_member(schema, value, path, &check);
    check_value(schema, value, &check);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    struct json *input = NULL;
    if (json_parse((const char *)bytes, count, NULL, &input, NULL)) return 0;
    if (json_kind(input) == JSON_LIST && json_size(input) >= 2)
        check_pair(json_at(input, 0), json_at(input, 1), json_text(json_at(input, 2)));
    json_close(input);
    return 0;
}
