/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/scan.h"
#include "base/syntax.h"

#define FILE_MAX ((size_t)16 << 20)
#define WRITE_DEPTH_MAX 128 /* ours are 64 deep, plus what a caller wraps around */

static json_t *unwrap(const struct json *value) {
    return (json_t *)value;
}

static struct json *wrap(json_t *value) {
    return (struct json *)value;
}

/* ---- parsing ---- */

static void place(const char *bytes, size_t offset, const char *name,
                  struct error *err) {
    size_t line, column;
    scan_place(bytes, offset, &line, &column);
    error_where(err, "%.300s%s%zu:%zu", name ? name : "", name ? ":" : "", line,
                column);
}

static bool is_escaped(const char *bytes, size_t at) {
    size_t slashes = 0;
    while (slashes < at && bytes[at - 1 - slashes] == '\\') slashes++;
    return slashes % 2 != 0;
}

/* The fault that is no fault of syntax: a key that comes again. Jansson stops behind
 * it; *offset moves to its first quote. */
static lathe_status fail_duplicate(const char *bytes, size_t *offset,
                                   struct error *err) {
    size_t end = *offset, start = end - 2;
    while (start > 0 && (bytes[start] != '"' || is_escaped(bytes, start))) start--;
    *offset = start;
    size_t length = end - start < 200 ? end - start : 200;
    fail(err, LATHE_EINVAL, "the key %.*s is given twice in one object", (int)length,
         bytes + start);
    error_help(err, "remove one of the two");
    return LATHE_EINVAL;
}

lathe_status json_parse(const char *bytes, size_t count, const char *name,
                        struct json **root, struct error *err) {
    size_t offset = 0;
    lathe_status status = syntax_check(bytes, count, &offset, err);
    if (status) {
        place(bytes, offset, name, err);
        return status;
    }
    json_error_t found;
    json_t *value =
        json_loadb(bytes, count, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &found);
    if (value) {
        *root = wrap(value);
        return LATHE_OK;
    }
    if (found.position < 1 || (size_t)found.position > count)
        return fail(err, LATHE_ENOMEM, "no memory for a JSON text of %zu bytes", count);
    offset = (size_t)found.position;
    if (json_error_code(&found) == json_error_duplicate_key)
        status = fail_duplicate(bytes, &offset, err);
    else
        status = fail(err, LATHE_EINVAL, "JSON that cannot be read: %s", found.text);
    place(bytes, offset, name, err);
    return status;
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
    json_t *made = json_string(string);
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

bool json_put(struct json *map, const char *key, struct json *value) {
    return json_object_set_new(unwrap(map), key, unwrap(value)) == 0;
}

bool json_push(struct json *list, struct json *value) {
    return json_array_append_new(unwrap(list), unwrap(value)) == 0;
}

bool json_replace_at(struct json *list, size_t index, struct json *value) {
    return json_array_set_new(unwrap(list), index, unwrap(value)) == 0;
}

/* ---- writing ---- */

struct level {
    json_t *value;
    void *member; /* of a map: the next one */
    size_t index; /* of members and items written so far */
};

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

static void break_line(struct text *text, int indent, size_t depth) {
    if (indent) text_format(text, "\n%*s", (int)depth * indent, "");
}

/* Writes what comes before the next child of the innermost level and returns the child;
 * NULL: there is none left. */
static json_t *next_child(struct level *level, struct text *text, int indent,
                          size_t depth) {
    bool is_map = json_is_object(level->value);
    json_t *child = is_map
                        ? (level->member ? json_object_iter_value(level->member) : NULL)
                        : json_array_get(level->value, level->index);
    if (!child) return NULL;
    if (level->index++) text_add(text, ",");
    break_line(text, indent, depth);
    if (is_map) {
        text_json_string(text, json_object_iter_key(level->member));
        text_add(text, indent ? ": " : ":");
        level->member = json_object_iter_next(level->value, level->member);
    }
    return child;
}

void json_write(const struct json *value, struct text *text, int indent) {
    struct level levels[WRITE_DEPTH_MAX];
    size_t depth = 0;
    json_t *now = unwrap(value);
    for (;;) {
        if (now && (json_is_object(now) || json_is_array(now))) {
            if (depth == WRITE_DEPTH_MAX) {
                text->is_broken = true;
                return;
            }
            text_add(text, json_is_object(now) ? "{" : "[");
            levels[depth++] = (struct level){now, json_object_iter(now), 0};
        } else {
            write_scalar(wrap(now), text);
        }
        now = NULL;
        while (depth && !(now = next_child(&levels[depth - 1], text, indent, depth))) {
            struct level *done = &levels[--depth];
            if (done->index) break_line(text, indent, depth);
            text_add(text, json_is_object(done->value) ? "}" : "]");
        }
        if (!now) return;
    }
}
