/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "options_parts.h"

struct error *options_fault(const struct option_check *check, const char *path,
                            const char *format, ...) {
    struct error *err = errors_add(check->errors);
    va_list arguments;
    va_start(arguments, format);
    fail_list(err, LATHE_EINVAL, format, arguments);
    va_end(arguments);
    const char *file = check->file ? check->file : "";
    error_where(err, "%.200s%s%s", file, *file && *path ? ": " : "", path);
    return err;
}

void options_member(char path[OPTIONS_PATH_BYTES], const char *parent,
                    const char *key) {
    int length =
        snprintf(path, OPTIONS_PATH_BYTES, "%s%s%s", parent, *parent ? "." : "", key);
    if (length < 0) path[0] = '\0';
}

void options_item(char path[OPTIONS_PATH_BYTES], const char *parent, size_t index) {
    char key[24];
    snprintf(key, sizeof key, "%zu", index);
    options_member(path, parent, key);
}

bool options_is_type(const struct json *value, const char *type) {
    static const char *const types[] = {"null",   "boolean", "number",
                                        "string", "array",   "object"};
    return strcmp(type, types[json_kind(value)]) == 0 ||
           (strcmp(type, "integer") == 0 && json_is_whole(value));
}

/* ---- objects ---- */

const struct json *options_branch_const(const struct json *branch, const char *key) {
    return json_get(json_get(json_get(branch, "properties"), key), "const");
}

const char *options_branch_key(const struct json *branches) {
    const struct json *first = json_get(json_at(branches, 0), "properties");
    for (struct json_member at = {0}; json_next(first, &at);) {
        size_t count = 0;
        while (options_branch_const(json_at(branches, count), at.key)) count++;
        if (count == json_size(branches)) return at.key;
    }
    return NULL;
}

/* What a check of members is told about them. */
struct members {
    const struct json *schemas;  /* name → schema */
    const struct json *required; /* a list of names; NULL: none */
    const char *const *reserved; /* NULL-ended; NULL: none */
    const char *owner;           /* a plugin, all of whose options are required but for
                                    optional ones; NULL: a plain object */
};

static bool is_reserved(const struct members *members, const char *key) {
    if (!members->reserved) return false;
    for (const char *const *name = members->reserved; *name; name++)
        if (strcmp(*name, key) == 0) return true;
    return false;
}

static void fail_unknown(const struct members *members, const char *key,
                         const char *path, const struct option_check *check) {
    struct error *err;
    char member[OPTIONS_PATH_BYTES];
    options_member(member, path, key);
    if (members->owner)
        err = options_fault(check, member, "%.100s has no option \"%.100s\"",
                            members->owner, key);
    else
        err = options_fault(check, member, "unknown key \"%.100s\"", key);
    struct nearest nearest;
    nearest_begin(&nearest, key);
    for (struct json_member at = {0}; json_next(members->schemas, &at);)
        nearest_list(&nearest, at.key);
    if (json_size(members->schemas))
        nearest_help(&nearest, "allowed", err);
    else
        error_help(err, members->owner ? "it has no options" : "it has no keys");
}

static void fail_missing(const struct json *schema, const char *key, const char *path,
                         const struct option_check *check) {
    struct text text = {0};
    options_describe(schema, &text);
    struct error *err = options_fault(check, path, "\"%.100s\" is required", key);
    error_help(err, "add \"%.100s\": %s", key, text.data ? text.data : "any value");
    text_finish(&text);
}

/* A member that is not there: takes its default, or is missed. */
static void complete(const struct members *members, const char *key,
                     struct json *object, const char *path,
                     const struct option_check *check) {
    const struct json *schema = json_get(members->schemas, key);
    const struct json *value = json_get(schema, "default");
    if (value && !json_put(object, key, json_clone(value))) {
        options_fault(check, path, "no memory for its default")->status = LATHE_ENOMEM;
        return;
    }
    bool is_required = members->owner ? !json_truth(json_get(schema, "optional"))
                                      : json_holds(members->required, key);
    if (!value && is_required) fail_missing(schema, key, path, check);
}

static void check_members(const struct members *members, struct json *object,
                          const char *path, const struct option_check *check) {
    for (struct json_member at = {0};
         check->errors->count < ERRORS_MAX && json_next(object, &at);)
        if (!json_get(members->schemas, at.key) && !is_reserved(members, at.key))
            fail_unknown(members, at.key, path, check);
    for (struct json_member at = {0}; json_next(members->schemas, &at);) {
        char member[OPTIONS_PATH_BYTES];
        options_member(member, path, at.key);
        if (!json_get(object, at.key)) complete(members, at.key, object, member, check);
        struct json *value = json_get(object, at.key);
        if (value) options_check(at.value, value, member, check);
    }
}

void options_check_members(const struct json *options, struct json *object,
                           const char *path, const char *const *reserved,
                           const char *owner, const struct option_check *check) {
    struct members members = {options, NULL, reserved, owner};
    check_members(&members, object, path, check);
}

static void check_map(const struct json *schema, struct json *value, const char *path,
                      const struct option_check *check) {
    struct members members = {json_get(schema, "properties"),
                              json_get(schema, "required"), NULL, NULL};
    if (members.schemas) check_members(&members, value, path, check);
}

/* ---- the rest ---- */

static void check_list(const struct json *schema, const struct json *value,
                       const char *path, const struct option_check *check) {
    long long count = (long long)json_size(value);
    const struct json *least = json_get(schema, "minItems");
    const struct json *most = json_get(schema, "maxItems");
    bool is_short = least && count < json_whole(least);
    if (is_short || (most && count > json_whole(most)))
        options_help(schema,
                     options_fault(check, path, "%lld item%s; at %s %lld are %s", count,
                                   count == 1 ? "" : "s", is_short ? "least" : "most",
                                   (long long)json_whole(is_short ? least : most),
                                   is_short ? "needed" : "allowed"));
    const struct json *items = json_get(schema, "items");
    for (size_t i = 0; items && i < json_size(value); i++) {
        char item[OPTIONS_PATH_BYTES];
        options_item(item, path, i);
        options_check(items, json_at(value, i), item, check);
    }
}

/* The values that tell the branches apart, as a list of the caller's. */
static struct json *list_branches(const struct json *branches, const char *key) {
    struct json *list = json_make_list();
    for (size_t i = 0; i < json_size(branches); i++)
        list = json_append(list,
                           json_clone(options_branch_const(json_at(branches, i), key)));
    return list;
}

static void check_branches(const struct json *branches, struct json *value,
                           const char *path, const struct option_check *check) {
    const char *key = options_branch_key(branches);
    if (!key) return;
    const struct json *told = json_get(value, key);
    for (size_t i = 0; told && i < json_size(branches); i++) {
        const struct json *branch = json_at(branches, i);
        if (!json_same(options_branch_const(branch, key), told)) continue;
        options_check(branch, value, path, check);
        return;
    }
    char member[OPTIONS_PATH_BYTES];
    options_member(member, path, key);
    struct json *choice = JSON_MAP_OF({"enum", list_branches(branches, key)});
    if (told)
        options_fail_choice(json_get(choice, "enum"), told, member, check);
    else
        fail_missing(choice, key, member, check);
    json_close(choice);
}

void options_check(const struct json *schema, struct json *value, const char *path,
                   const struct option_check *check) {
    if (!options_check_scalar(schema, value, path, check)) return;
    const struct json *branches = json_get(schema, "oneOf");
    if (branches) check_branches(branches, value, path, check);
    if (json_kind(value) == JSON_LIST) check_list(schema, value, path, check);
    if (json_kind(value) == JSON_MAP) check_map(schema, value, path, check);
    const char *format = json_text(json_get(schema, "format"));
    if (*format && check->format && strcmp(format, "duration") != 0 &&
        strcmp(format, "interval") != 0)
        check->format(check->context, format, path, value);
}
