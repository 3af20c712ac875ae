/* SPDX-License-Identifier: MIT */
/* The values at the edges of what a schema allows. An exclusive bound is approached as
 * near as a float can, since that is what plugins compute with. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/subject.h"

#define EDGES_MAX 24

static void add(struct json *list, struct json *value) {
    bool is_there = json_size(list) >= EDGES_MAX;
    for (size_t i = 0; !is_there && i < json_size(list); i++)
        is_there = json_same(json_at(list, i), value);
    if (is_there)
        json_close(value);
    else
        json_push(list, value);
}

static double step_from(double bound, double towards) {
    if (bound == 0) return towards > 0 ? (double)FLT_MIN : -(double)FLT_MIN;
    return (double)nextafterf((float)bound, (float)towards);
}

static void add_numbers(struct json *list, const struct json *schema, bool is_whole) {
    static const char *const inclusive[] = {"minimum", "maximum"};
    static const char *const exclusive[] = {"exclusiveMinimum", "exclusiveMaximum"};
    for (int i = 0; i < 2; i++) {
        const struct json *bound = json_get(schema, inclusive[i]);
        if (bound) add(list, json_clone(bound));
        bound = json_get(schema, exclusive[i]);
        const double towards = i ? -HUGE_VAL : HUGE_VAL;
        if (bound && is_whole)
            add(list, json_make_number(json_number(bound) + (i ? -1 : 1)));
        else if (bound)
            add(list, json_make_number(step_from(json_number(bound), towards)));
    }
    const struct json *least = json_get(schema, "minimum");
    if (least && !json_get(schema, "maximum") && !json_get(schema, "exclusiveMaximum"))
        add(list, json_make_number(json_number(least) + 1)); /* what is not off */
}

static void add_durations(struct json *list, const char *format) {
    static const char *const durations[] = {"1step", "1ep", "1sample", "1000000step"};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++)
        add(list, json_make_text(durations[i]));
    if (!strcmp(format, "interval")) {
        add(list, json_make_text("off"));
        add(list, json_make_text("1s"));
    }
}

static void add_texts(struct json *list, const struct json *schema) {
    const char *format = json_text(json_get(schema, "format"));
    const int64_t least = json_whole(json_get(schema, "minLength"));
    char shortest[65];
    if (!strcmp(format, "duration") || !strcmp(format, "interval")) {
        add_durations(list, format);
    } else if (!strcmp(format, "metric")) {
        add(list, json_make_text("train/loss"));
        add(list, json_make_text("validation/accuracy"));
    } else if (!format[0] && least <= 64) {
        memset(shortest, 'x', sizeof shortest);
        shortest[least > 0 ? least : 0] = 0;
        add(list, json_make_text(shortest));
    }
}

/* The ready list with one item after the other at its edges; and the shortest one. */
static void add_lists(struct json *list, const struct json *schema, const char *name) {
    struct json *ready = subject_make_up(schema, name);
    struct json *items = subject_edges(json_get(schema, "items"), name);
    struct json *shortest = json_make_list();
    const int64_t least = json_whole(json_get(schema, "minItems"));
    for (size_t i = 0; i < json_size(ready); i++)
        for (size_t j = 0; j < json_size(items); j++) {
            struct json *changed = json_clone(ready);
            json_replace_at(changed, i, json_clone(json_at(items, j)));
            add(list, changed);
        }
    for (int64_t i = 0; i < least && i < EDGES_MAX; i++) {
        struct json *item = (size_t)i < json_size(ready)
                                ? json_clone(json_at(ready, (size_t)i))
                                : subject_make_up(json_get(schema, "items"), name);
        if (item) json_push(shortest, item);
    }
    if ((int64_t)json_size(shortest) == least)
        add(list, shortest);
    else
        json_close(shortest);
    json_close(items);
    json_close(ready);
}

static void add_maps(struct json *list, const struct json *schema, const char *name) {
    struct json *ready = subject_make_up(schema, name);
    for (struct json_member at = {0}; json_next(json_get(schema, "properties"), &at);) {
        struct json *values = subject_edges(at.value, at.key);
        for (size_t i = 0; ready && i < json_size(values); i++) {
            struct json *changed = json_clone(ready);
            json_put(changed, at.key, json_clone(json_at(values, i)));
            add(list, changed);
        }
        json_close(values);
    }
    json_close(ready);
}

static void add_of_type(struct json *list, const struct json *schema, const char *type,
                        const char *name) {
    const char *format = json_text(json_get(schema, "format"));
    if (!strncmp(format, "plugin:", 7) || !strcmp(format, "path")) return;
    if (!strcmp(type, "integer") || !strcmp(type, "number"))
        add_numbers(list, schema, !strcmp(type, "integer"));
    else if (!strcmp(type, "boolean"))
        add(list, json_make_truth(false)), add(list, json_make_truth(true));
    else if (!strcmp(type, "array"))
        add_lists(list, schema, name);
    else if (!strcmp(type, "object"))
        add_maps(list, schema, name);
    else
        add_texts(list, schema);
}

struct json *subject_edges(const struct json *schema, const char *name) {
    struct json *list = json_make_list();
    const struct json *choices = json_get(schema, "enum");
    const struct json *branches = json_get(schema, "oneOf");
    const struct json *type = json_get(schema, "type");
    if (json_get(schema, "default")) add(list, json_clone(json_get(schema, "default")));
    for (size_t i = 0; i < json_size(choices); i++)
        add(list, json_clone(json_at(choices, i)));
    for (size_t i = 0; i < json_size(branches); i++) {
        struct json *values = subject_edges(json_at(branches, i), name);
        for (size_t j = 0; j < json_size(values); j++)
            add(list, json_clone(json_at(values, j)));
        json_close(values);
    }
    if (choices || branches) return list;
    if (json_kind(type) == JSON_LIST)
        for (size_t i = 0; i < json_size(type); i++)
            add_of_type(list, schema, json_text(json_at(type, i)), name);
    else
        add_of_type(list, schema, json_text(type), name);
    return list;
}
