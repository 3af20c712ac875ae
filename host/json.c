/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "json_fault.h"

#define FILE_MAX ((size_t)16 << 20)
#define WRITE_DEPTH_MAX 128 /* ours are 64 deep, plus what a caller wraps around */

static json_t *unwrap(const struct json *value) {
    return (json_t *)value;
}

static struct json *wrap(json_t *value) {
    return (struct json *)value;
}

/* ---- parsing ---- */

lathe_status json_parse(const char *bytes, size_t count, const char *name,
                        struct json **root, struct error *err) {
    lathe_status status = json_check_text(bytes, count, name, err);
    if (status) return status;
    json_error_t found;
    json_t *value =
        json_loadb(bytes, count, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &found);
    if (value) {
        *root = wrap(value);
        return LATHE_OK;
    }
    if (!found.text[0] || found.position < 0 || (size_t)found.position > count)
        return fail(err, LATHE_ENOMEM, "no memory for a JSON text of %zu bytes", count);
    bool is_cut = json_error_code(&found) == json_error_premature_end_of_input;
    return json_explain(bytes, count, (size_t)found.position, found.text, is_cut, name,
                        err);
}

lathe_status json_read(const char *path, struct json **root, struct error *err) {
    char *content;
    size_t length;
    lathe_status status = file_read(path, FILE_MAX, &content, &length, err);
    if (status) return status;
    status = json_parse(content, length, path, root, err);
    free(content);
    return status;
}

void json_close(struct json *root) {
    json_decref(unwrap(root));
}

/* ---- reading ---- */

enum json_kind json_kind(const struct json *value) {
    if (!value) return JSON_NULL_KIND;
    switch (json_typeof(unwrap(value))) {
    case JSON_OBJECT:
        return JSON_MAP;
    case JSON_ARRAY:
        return JSON_LIST;
    case JSON_STRING:
        return JSON_TEXT;
    case JSON_INTEGER:
    case JSON_REAL:
        return JSON_NUMBER;
    case JSON_TRUE:
    case JSON_FALSE:
        return JSON_BOOLEAN;
    default:
        return JSON_NULL_KIND;
    }
}

const char *json_kind_name(enum json_kind kind) {
    static const char *const names[] = {"null",     "true or false", "a number",
                                        "a string", "an array",      "an object"};
    return names[kind];
}

bool json_is_whole(const struct json *value) {
    if (!value) return false;
    if (json_is_integer(unwrap(value))) return true;
    if (!json_is_real(unwrap(value))) return false;
    double number = json_real_value(unwrap(value));
    return number == trunc(number) && number >= -0x1p63 && number < 0x1p63;
}

double json_number(const struct json *value) {
    if (!value) return 0;
    if (json_is_true(unwrap(value))) return 1;
    return json_number_value(unwrap(value));
}

int64_t json_whole(const struct json *value) {
    if (!value) return 0;
    if (json_is_integer(unwrap(value))) return json_integer_value(unwrap(value));
    double number = json_number(value);
    if (number >= 0x1p63) return INT64_MAX;
    if (number < -0x1p63) return INT64_MIN;
    return (int64_t)number;
}

const char *json_text(const struct json *value) {
    const char *string = value ? json_string_value(unwrap(value)) : NULL;
    return string ? string : "";
}

bool json_truth(const struct json *value) {
    return value && json_is_true(unwrap(value));
}

size_t json_size(const struct json *value) {
    if (!value) return 0;
    return json_is_array(unwrap(value)) ? json_array_size(unwrap(value))
                                        : json_object_size(unwrap(value));
}

/* The iterator of a map's index-th member; NULL: there are not so many. */
static void *member_at(const struct json *map, size_t index) {
    if (!map || !json_is_object(unwrap(map))) return NULL;
    void *member = json_object_iter(unwrap(map));
    while (member && index--) member = json_object_iter_next(unwrap(map), member);
    return member;
}

bool json_next(const struct json *map, struct json_member *member) {
    member->place = member->place ? json_object_iter_next(unwrap(map), member->place)
                                  : json_object_iter(unwrap(map));
    if (!member->place) return false;
    member->key = json_object_iter_key(member->place);
    member->value = wrap(json_object_iter_value(member->place));
    return true;
}

struct json *json_at(const struct json *list_or_map, size_t index) {
    if (list_or_map && json_is_array(unwrap(list_or_map)))
        return wrap(json_array_get(unwrap(list_or_map), index));
    void *member = member_at(list_or_map, index);
    return member ? wrap(json_object_iter_value(member)) : NULL;
}

const char *json_key_at(const struct json *map, size_t index) {
    void *member = member_at(map, index);
    return member ? json_object_iter_key(member) : NULL;
}

struct json *json_get(const struct json *map, const char *key) {
    return map ? wrap(json_object_get(unwrap(map), key)) : NULL;
}

bool json_holds(const struct json *list, const char *text) {
    for (size_t i = 0; i < json_size(list); i++)
        if (!strcmp(json_text(json_at(list, i)), text)) return true;
    return false;
}

struct json *json_find(const struct json *list, const char *key, const char *text) {
    for (size_t i = 0; i < json_size(list); i++)
        if (!strcmp(json_text(json_get(json_at(list, i), key)), text))
            return json_at(list, i);
    return NULL;
}

static bool same_number(const struct json *a, const struct json *b) {
    if (json_is_integer(unwrap(a)) && json_is_integer(unwrap(b)))
        return json_whole(a) == json_whole(b);
    if (json_number(a) != json_number(b)) return false;
    /* 2^53 + 1 and 2^53 are one double, and still not the same. */
    return !json_is_whole(a) || !json_is_whole(b) || json_whole(a) == json_whole(b);
}

bool json_same(const struct json *a, const struct json *b) {
    enum json_kind kind = json_kind(a);
    if (kind != json_kind(b) || json_size(a) != json_size(b)) return false;
    if (kind == JSON_NUMBER) return same_number(a, b);
    if (kind == JSON_BOOLEAN) return json_truth(a) == json_truth(b);
    if (kind == JSON_TEXT) return strcmp(json_text(a), json_text(b)) == 0;
    if (kind == JSON_LIST)
        for (size_t i = 0; i < json_size(a); i++)
            if (!json_same(json_at(a, i), json_at(b, i))) return false;
    if (kind != JSON_MAP) return true;
    const char *key;
    json_t *member;
    json_object_foreach(unwrap(a), key, member) {
        struct json *other = json_get(b, key);
        if (!other || !json_same(wrap(member), other)) return false;
    }
    return true;
}

/* ---- making and changing ---- */

struct json *json_make_map(void) {
    return wrap(json_object());
}

struct json *json_make_list(void) {
    return wrap(json_array());
}

struct json *json_make_text(const char *string) {
    json_t *made = string ? json_string(string) : json_null();
    if (made) return wrap(made);
    /* Not UTF-8, or no memory. */
    char *clean = text_copy(string);
    if (!clean) return NULL;
    text_clean(clean);
    made = json_string(clean);
    free(clean);
    return wrap(made);
}

struct json *json_make_number(double number) {
    return wrap(isfinite(number) ? json_real(number) : json_null());
}

struct json *json_make_whole(int64_t number) {
    return wrap(json_integer(number));
}

struct json *json_make_truth(bool truth) {
    return wrap(json_boolean(truth));
}

struct json *json_clone(const struct json *value) {
    return wrap(json_deep_copy(unwrap(value)));
}

static bool is_among(const char *key, const char *const *keys) {
    while (*keys && strcmp(*keys, key) != 0) keys++;
    return *keys != NULL;
}

struct json *json_clone_without(const struct json *map, const char *const *keys) {
    struct json *copy = json_make_map();
    for (struct json_member at = {0}; json_next(map, &at);)
        if (!is_among(at.key, keys))
            copy = json_add(copy, at.key, json_clone(at.value));
    return copy;
}

bool json_put(struct json *map, const char *key, struct json *value) {
    return json_object_set_new(unwrap(map), key, unwrap(value)) == 0;
}

bool json_push(struct json *list, struct json *value) {
    return json_array_append_new(unwrap(list), unwrap(value)) == 0;
}

/* Jansson takes NULL for either, and fails. */
static struct json *whole_or_none(struct json *made, bool is_whole) {
    if (!is_whole) json_close(made);
    return is_whole ? made : NULL;
}

struct json *json_add(struct json *map, const char *key, struct json *value) {
    return whole_or_none(map, json_put(map, key, value));
}

struct json *json_append(struct json *list, struct json *value) {
    return whole_or_none(list, json_push(list, value));
}

struct json *json_make_map_of(const struct json_entry *entries) {
    struct json *map = json_make_map();
    for (; entries->key; entries++) map = json_add(map, entries->key, entries->value);
    return map;
}

bool json_set_text(struct json *value, const char *string) {
    return json_string_set(unwrap(value), string) == 0;
}

bool json_replace_at(struct json *list, size_t index, struct json *value) {
    return json_array_set_new(unwrap(list), index, unwrap(value)) == 0;
}

/* ---- writing ---- */

static void write_scalar(const struct json *value, struct text *text) {
    switch (json_kind(value)) {
    case JSON_BOOLEAN:
        text_add(text, json_truth(value) ? "true" : "false");
        break;
    case JSON_NUMBER:
        if (json_is_integer(unwrap(value)))
            text_format(text, "%" JSON_INTEGER_FORMAT,
                        json_integer_value(unwrap(value)));
        else
            text_json_shortest(text, json_number(value));
        break;
    case JSON_TEXT:
        text_json_string(text, json_text(value));
        break;
    default:
        text_add(text, "null");
    }
}

static void break_line(struct text *text, int indent, int depth) {
    if (indent) text_format(text, "\n%*s", depth * indent, "");
}

static void write_value(const struct json *value, struct text *text, int indent,
                        int depth) {
    bool is_map = json_kind(value) == JSON_MAP;
    if (!is_map && json_kind(value) != JSON_LIST) {
        write_scalar(value, text);
        return;
    }
    if (depth == WRITE_DEPTH_MAX) {
        text->is_broken = true;
        return;
    }
    void *member = json_object_iter(unwrap(value)); /* of a list: NULL */
    size_t count = json_size(value);
    text_add(text, is_map ? "{" : "[");
    for (size_t i = 0; i < count; i++) {
        if (i) text_add(text, ",");
        break_line(text, indent, depth + 1);
        if (is_map) {
            text_json_string(text, json_object_iter_key(member));
            text_add(text, indent ? ": " : ":");
        }
        write_value(is_map ? wrap(json_object_iter_value(member)) : json_at(value, i),
                    text, indent, depth + 1);
        if (is_map) member = json_object_iter_next(unwrap(value), member);
    }
    if (count) break_line(text, indent, depth);
    text_add(text, is_map ? "}" : "]");
}

void json_write(const struct json *value, struct text *text, int indent) {
    write_value(value, text, indent, 0);
}

void json_write_document(struct json *root, struct text *text, int indent) {
    if (!root) text->is_broken = true;
    json_write(root, text, indent);
    text_add(text, "\n");
    json_close(root);
}
