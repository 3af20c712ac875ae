/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/nearest.h"
#include "options_parts.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define BRANCHES_MAX 100 /* each is compared with each other */

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
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return;
    struct nearest nearest;
    nearest_begin(&nearest, name);
    for (size_t i = 0; i < count; i++) nearest_list(&nearest, names[i]);
    struct error *err =
        *name ? options_fault(check, path, "unknown %s \"%.100s\"", what, name)
              : options_fault(check, path, "the name of a %s was expected, found %s",
                              what, json_kind_name(json_kind(value)));
    nearest_help(&nearest, "known", err);
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

/* ---- keywords that are more than a value of a type ---- */

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
    if (json_size(value) == 0)
        options_fault(check, path, "an empty list allows nothing");
}

static void check_count(const struct json *schema, const struct json *value,
                        const char *path, const struct option_check *check) {
    (void)schema;
    if (json_number(value) < 0)
        options_fault(check, path, "a count cannot be negative");
}

static void check_items(const struct json *schema, const struct json *value,
                        const char *path, const struct option_check *check) {
    (void)schema;
    options_check_schema(value, path, check);
}

/* Each member or item is a schema. */
static void check_schemas(const struct json *schema, const struct json *value,
                          const char *path, const struct option_check *check) {
    (void)schema;
    char inner[OPTIONS_PATH_BYTES];
    for (struct json_member at = {0}; json_next(value, &at);) {
        options_member(inner, path, at.key);
        options_check_schema(at.value, inner, check);
    }
    for (size_t i = 0; json_kind(value) == JSON_LIST && i < json_size(value); i++) {
        options_item(inner, path, i);
        options_check_schema(json_at(value, i), inner, check);
    }
}

static void check_required(const struct json *schema, const struct json *value,
                           const char *path, const struct option_check *check) {
    const struct json *properties = json_get(schema, "properties");
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

static void check_branches(const struct json *schema, const struct json *value,
                           const char *path, const struct option_check *check) {
    check_schemas(schema, value, path, check);
    if (json_size(value) > BRANCHES_MAX) {
        options_fault(check, path, "%zu branches; at most %d are allowed",
                      json_size(value), BRANCHES_MAX);
        return;
    }
    const char *key = options_branch_key(value);
    bool are_told_apart = key != NULL;
    for (size_t i = 0; key && i < json_size(value); i++)
        for (size_t j = 0; j < i; j++)
            if (json_same(options_branch_const(json_at(value, i), key),
                          options_branch_const(json_at(value, j), key)))
                are_told_apart = false;
    if (!are_told_apart)
        error_help(options_fault(check, path, "no key tells the branches apart"),
                   "give every branch the same property with a \"const\" of its own");
}

static const struct keyword {
    const char *name, *type; /* NULL: any value */
    /* Looks further at a value of that type, which stands at `path`; may be NULL. */
    void (*check)(const struct json *schema, const struct json *value, const char *path,
                  const struct option_check *check);
} keywords[] = {
    {"type", NULL, check_type},
    {"enum", "array", check_enum},
    {"const", NULL, NULL},
    {"minimum", "number", NULL},
    {"maximum", "number", NULL},
    {"exclusiveMinimum", "number", NULL},
    {"exclusiveMaximum", "number", NULL},
    {"items", NULL, check_items},
    {"minItems", "integer", check_count},
    {"maxItems", "integer", check_count},
    {"minLength", "integer", check_count},
    {"properties", "object", check_schemas},
    {"required", "array", check_required},
    {"oneOf", "array", check_branches},
    {"default", NULL, NULL}, /* against the schema, when all else is right */
    {"description", "string", NULL},
    {"optional", "boolean", NULL},
    {"format", NULL, check_format},
};

static void check_member(const struct json *schema, const char *name,
                         const struct json *value, const char *path,
                         const struct option_check *check) {
    struct nearest nearest;
    nearest_begin(&nearest, name);
    for (size_t i = 0; i < COUNT(keywords); i++) {
        const struct keyword *keyword = &keywords[i];
        if (strcmp(keyword->name, name) != 0) continue;
        if ((!keyword->type || wants(value, keyword->type, path, check)) &&
            keyword->check)
            keyword->check(schema, value, path, check);
        return;
    }
    for (size_t i = 0; i < COUNT(keywords); i++)
        nearest_list(&nearest, keywords[i].name);
    nearest_help(&nearest, "known",
                 options_fault(check, path, "unknown schema keyword \"%.100s\"", name));
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
    for (struct json_member at = {0}; json_next(schema, &at);) {
        char member[OPTIONS_PATH_BYTES];
        options_member(member, path, at.key);
        check_member(schema, at.key, at.value, member, check);
    }
    if (check->errors->count != before) return;
    check_bounds(schema, "minimum", "maximum", path, check);
    check_bounds(schema, "minItems", "maxItems", path, check);
    if (check->errors->count == before) check_default(schema, path, check);
}
