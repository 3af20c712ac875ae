/* SPDX-License-Identifier: MIT */
/* JSON as a tree that can be read, changed and written. Jansson parses and holds it,
 * and nobody else sees Jansson. Objects keep the order of their file. */
#ifndef HOST_JSON_H
#define HOST_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct json;

enum json_kind {
    JSON_NULL_KIND = 0,
    JSON_BOOLEAN,
    JSON_NUMBER,
    JSON_TEXT,
    JSON_LIST,
    JSON_MAP,
};

/* Parses one value. `name` (a file) goes into where, as "name:line:column". Duplicate
 * keys, a BOM, trailing text, numbers that do not fit and nesting deeper than 64 are
 * LATHE_EINVAL with a message of ours. *root is the caller's. */
lathe_status json_parse(const char *bytes, size_t count, const char *name,
                        struct json **root, struct error *err);
lathe_status json_read(const char *path, struct json **root, struct error *err);
void json_close(struct json *root); /* NULL is fine */

/* Reading. NULL values read as JSON_NULL_KIND, so calls can be chained. Borrowed. */
enum json_kind json_kind(const struct json *value);
const char *json_kind_name(enum json_kind kind); /* "a string", "an object", … */
bool json_is_whole(const struct json *value); /* a number without a fraction: 1, 1.0 */
double json_number(const struct json *value); /* booleans: 0 or 1; else 0 */
int64_t json_whole(const struct json *value);
double json_exact(const struct json *value);     /* of json_make_exact; else 0 */
const char *json_text(const struct json *value); /* "" unless a string */
bool json_truth(const struct json *value);
size_t json_size(const struct json *value); /* of a list or map; else 0 */
struct json *json_at(const struct json *list_or_map, size_t index);
const char *json_key_at(const struct json *map, size_t index);
struct json *json_get(const struct json *map, const char *key); /* NULL: not there */
bool json_holds(const struct json *list, const char *text);     /* is it an item? */
/* The first item whose member `key` is that text; NULL: there is none. */
struct json *json_find(const struct json *list, const char *key, const char *text);
/* The members of a map one after the other, which json_at would look for from the first
 * one on, each time. New ones may be put in meanwhile.
 *
 *     for (struct json_member at = {0}; json_next(map, &at);) … at.key, at.value */
struct json_member {
    const char *key;
    struct json *value;
    void *place;
};
bool json_next(const struct json *map, struct json_member *member);
bool json_same(const struct json *a, const struct json *b); /* 1 equals 1.0 */

/* Making and changing. What is put in is taken over, also on failure; false: out of
 * memory. */
struct json *json_make_map(void);
struct json *json_make_list(void);
struct json *json_make_text(const char *string); /* NULL: null */
struct json *json_make_number(double number);
struct json *json_make_whole(int64_t number);
struct json *json_make_truth(bool truth);
/* A double that reads back to the same bits, NaN's sign and payload apart: what JSON
 * has no number for is text, "nan", "inf", "-inf", "-0". */
struct json *json_make_exact(double number);
struct json *json_clone(const struct json *value);
/* A copy of a map without the members of these names; `keys` ends with NULL. */
struct json *json_clone_without(const struct json *map, const char *const *keys);
bool json_put(struct json *map, const char *key, struct json *value);
bool json_push(struct json *list, struct json *value);
/* Changes what a string holds. */
bool json_set_text(struct json *value, const char *string);
bool json_replace_at(struct json *list, size_t index, struct json *value);

/* Building, where all or nothing is wanted: what is given is taken over, and the whole
 * comes back. NULL: out of memory, or a part was NULL; then all of it is closed, and
 * what follows gives NULL as well, so only the end of it need be looked at.
 *
 *     JSON_MAP_OF({"step", json_make_whole(step)}, {"why", json_make_text(why)}) */
struct json_entry {
    const char *key; /* NULL: the end */
    struct json *value;
};
#define JSON_MAP_OF(...)                                                               \
    json_make_map_of((const struct json_entry[]){__VA_ARGS__, {NULL, NULL}})
struct json *json_make_map_of(const struct json_entry *entries);
struct json *json_add(struct json *map, const char *key, struct json *value);
struct json *json_append(struct json *list, struct json *value);

/* Writes it; indent 0: on one line. Whole numbers as whole, others with %.17g shortened
 * to what reads back the same. */
void json_write(const struct json *value, struct text *text, int indent);
/* The same of all there is to say, with a newline at its end; `root` is closed. NULL:
 * out of memory, and the text is broken. */
void json_write_document(struct json *root, struct text *text, int indent);

#endif
