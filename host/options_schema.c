/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/nearest.h"
#include "options_parts.h"

/* One keyword of a schema: looks at its value, which stands at `path`. */
typedef void check_keyword(const struct json *schema, const struct json *value,
                           const char *path, const struct option_check *check);

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const types[] = {"string", "integer", "number", "boolean",
                                    "array",  "object",  "null"};
static const char *const formats[] = {
    "duration",         "interval",        "path",
    "metric",           "plugin:dataset",  "plugin:model",
    "plugin:optimizer", "plugin:schedule", "plugin:callback",
    "plugin:comm",
};

static void check_named(const char *what, const char *const *names, size_t count,
                        const struct json *value, const char *path,
                        const struct option_check *check) {
    const char *name = json_text(value);
    struct nearest nearest;
    nearest_begin(&nearest, name);
    struct text list = {0};
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) goto done;
        nearest_offer(&nearest, names[i]);
        text_format(&list, "%s%s", i ? ", " : "", names[i]);
    }
    struct error *err =
        *name ? options_fault(check, path, "unknown %s \"%.100s\"", what, name)
              : options_fault(check, path, "the name of a %s was expected, found %s",
                              what, json_kind_name(json_kind(value)));
    if (nearest.best)
        error_help(err, "did you mean \"%s\"? Known: %s", nearest.best,
                   list.data ? list.data : "");
    else
        error_help(err, "known: %s", list.data ? list.data : "");
done:
    text_finish(&list);
}

/* The fault of a keyword whose value is of the wrong type; true: it is fine. */
static bool wants(const struct json *value, const char *type, const char *path,
                  const struct option_check *check) {
    if (options_is_type(value, type)) return true;
    char found[OPTIONS_FOUND_BYTES];
    options_found(value, found);
    options_fault(check, path, "%s %s was expected, found %s",
                  strchr("aeio", *type) ? "an" : "a", type, found);
    return false;
}

static void check_type(const struct json *schema, const struct json *value,
                       const char *path, const struct option_check *check) {
    (void)schema;
    bool is_list = json_kind(value) == JSON_LIST && json_size(value);
    if (!is_list) check_named("type", types, COUNT(types), value, path, check);
    for (size_t i = 0; is_list && i < json_size(value); i++) {
        char item[OPTIONS_PATH_BYTES];
        options_item(item, path, i);
        check_named("type", types, COUNT(types), json_at(value, i), item, check);
    }
}

static void check_format(const struct json *schema, const struct json *value,
                         const char *path, const struct option_check *check) {
    (void)schema;
    check_named("format", formats, COUNT(formats), value, path, check);
}

static void check_enum(const struct json *schema, const struct json *value,
                       const char *path, const struct option_check *check) {
    (void)schema;
    if (wants(value, "array", path, check) && json_size(value) == 0)
        options_fault(check, path, "an empty list allows nothing");
}

static void check_anything(const struct json *schema, const struct json *value,
                           const char *path, const struct option_check *check) {
    (void)schema, (void)value, (void)path, (void)check;
}

static void check_number(const struct json *schema, const struct json *value,
                         const char *path, const struct option_check *check) {
    (void)schema;
    wants(value, "number", path, check);
}

static void check_count(const struct json *schema, const struct json *value,
                        const char *path, const struct option_check *check) {
    (void)schema;
    if (wants(value, "integer", path, check) && json_number(value) < 0)
        options_fault(check, path, "a count cannot be negative");
}

static void check_text(const struct json *schema, const struct json *value,
                       const char *path, const struct option_check *check) {
    (void)schema;
    wants(value, "string", path, check);
}

static void check_truth(const struct json *schema, const struct json *value,
                        const char *path, const struct option_check *check) {
    (void)schema;
    wants(value, "boolean", path, check);
}

static void check_items(const struct json *schema, const struct json *value,
                        const char *path, const struct option_check *check) {
    (void)schema;
    options_check_schema(value, path, check);
}

static void check_properties(const struct json *schema, const struct json *value,
                             const char *path, const struct option_check *check) {
    (void)schema;
    if (!wants(value, "object", path, check)) return;
    for (size_t i = 0; i < json_size(value); i++) {
        char member[OPTIONS_PATH_BYTES];
        options_member(member, path, json_key_at(value, i));
        options_check_schema(json_at(value, i), member, check);
    }
}

static void check_required(const struct json *schema, const struct json *value,
                           const char *path, const struct option_check *check) {
    const struct json *properties = json_get(schema, "properties");
    if (!wants(value, "array", path, check)) return;
    for (size_t i = 0; i < json_size(value); i++) {
        char item[OPTIONS_PATH_BYTES];
        options_item(item, path, i);
        const struct json *name = json_at(value, i);
        if (wants(name, "string", item, check) &&
            !json_get(properties, json_text(name)))
            options_fault(check, item, "\"%.100s\" is not among the properties",
                          json_text(name));
    }
}

static bool are_told_apart(const struct json *branches) {
    const char *key = options_branch_key(branches);
    for (size_t i = 0; key && i < json_size(branches); i++)
        for (size_t j = 0; j < i; j++)
            if (json_same(options_branch_const(json_at(branches, i), key),
                          options_branch_const(json_at(branches, j), key)))
                return false;
    return key != NULL;
}

static void check_branches(const struct json *schema, const struct json *value,
                           const char *path, const struct option_check *check) {
    (void)schema;
    if (!wants(value, "array", path, check)) return;
    for (size_t i = 0; i < json_size(value); i++) {
        char item[OPTIONS_PATH_BYTES];
        options_item(item, path, i);
        options_check_schema(json_at(value, i), item, check);
    }
    if (are_told_apart(value)) return;
    struct error *err = options_fault(check, path, "no key tells the branches apart");
    error_help(err, "give every branch the same property with a \"const\" of its own");
}

static const struct {
    const char *name;
    check_keyword *check;
} keywords[] = {
    {"type", check_type},
    {"enum", check_enum},
    {"const", check_anything},
    {"minimum", check_number},
    {"maximum", check_number},
    {"exclusiveMinimum", check_number},
    {"exclusiveMaximum", check_number},
    {"items", check_items},
    {"minItems", check_count},
    {"maxItems", check_count},
    {"minLength", check_count},
    {"properties", check_properties},
    {"required", check_required},
    {"oneOf", check_branches},
    {"default", check_anything}, /* against the schema, when all else is right */
    {"description", check_text},
    {"optional", check_truth},
    {"format", check_format},
};

static void fail_keyword(const char *name, const char *path,
                         const struct option_check *check) {
    struct error *err =
        options_fault(check, path, "unknown schema keyword \"%.100s\"", name);
    struct nearest nearest;
    struct text list = {0};
    nearest_begin(&nearest, name);
    for (size_t i = 0; i < COUNT(keywords); i++) {
        nearest_offer(&nearest, keywords[i].name);
        text_format(&list, "%s%s", i ? ", " : "", keywords[i].name);
    }
    if (nearest.best)
        error_help(err, "did you mean \"%s\"? Known: %s", nearest.best,
                   list.data ? list.data : "");
    else
        error_help(err, "known: %s", list.data ? list.data : "");
    text_finish(&list);
}

/* Bounds that leave nothing between them. */
static void check_bounds(const struct json *schema, const char *low, const char *high,
                         const char *path, const struct option_check *check) {
    const struct json *least = json_get(schema, low), *most = json_get(schema, high);
    if (least && most && json_number(least) > json_number(most))
        options_fault(check, path, "%s is greater than %s", low, high);
}

static void check_default(const struct json *schema, const char *path,
                          const struct option_check *check) {
    const struct json *given = json_get(schema, "default");
    if (!given) return;
    struct json *copy = json_clone(given); /* nested defaults would be put in */
    struct option_check plain = {check->errors, check->file, NULL, NULL};
    char member[OPTIONS_PATH_BYTES];
    options_member(member, path, "default");
    options_check(schema, copy, member, &plain);
    json_close(copy);
}

void options_check_schema(const struct json *schema, const char *path,
                          const struct option_check *check) {
    size_t before = check->errors->count;
    if (!wants(schema, "object", path, check)) {
        error_help(&check->errors->items[check->errors->count - 1],
                   "a schema is an object: { \"type\": \"number\", \"default\": 0.1 }");
        return;
    }
    for (size_t i = 0; i < json_size(schema); i++) {
        const char *name = json_key_at(schema, i);
        char member[OPTIONS_PATH_BYTES];
        options_member(member, path, name);
        size_t known = 0;
        while (known < COUNT(keywords) && strcmp(keywords[known].name, name) != 0)
            known++;
        if (known < COUNT(keywords))
            keywords[known].check(schema, json_at(schema, i), member, check);
        else
            fail_keyword(name, member, check);
    }
    if (check->errors->count != before) return;
    check_bounds(schema, "minimum", "maximum", path, check);
    check_bounds(schema, "minItems", "maxItems", path, check);
    if (check->errors->count == before) check_default(schema, path, check);
}
