/* SPDX-License-Identifier: MIT */
/* Values for options that nobody gave: something ordinary that the schema allows. */
#include <math.h>
#include <string.h>

#include "check/subject.h"

static double clamp(const struct json *schema, double wanted) {
    const struct json *least = json_get(schema, "minimum");
    const struct json *most = json_get(schema, "maximum");
    const struct json *below = json_get(schema, "exclusiveMinimum");
    const struct json *above = json_get(schema, "exclusiveMaximum");
    const double low = least   ? json_number(least)
                       : below ? json_number(below)
                               : -HUGE_VAL;
    const double high = most    ? json_number(most)
                        : above ? json_number(above)
                                : HUGE_VAL;
    if (wanted > low && wanted < high) return wanted;
    if (isfinite(low) && isfinite(high)) return (low + high) / 2;
    if (isfinite(low)) return least ? low : low + 1;
    return most ? high : high - 1;
}

static struct json *make_list(const struct json *schema, const char *name) {
    struct json *list = json_make_list();
    const struct json *items = json_get(schema, "items");
    const struct json *most = json_get(schema, "maxItems");
    const int64_t least = json_whole(json_get(schema, "minItems"));
    int64_t count = least > 0 ? least : 2; /* an empty list says little */
    if (most && count > json_whole(most)) count = json_whole(most);
    for (int64_t i = 0; list && i < count; i++) {
        struct json *item = subject_make_up(items, name);
        /* Ranges and the like want to rise. */
        const bool is_whole = json_kind(item) == JSON_NUMBER && json_is_whole(item) &&
                              !json_get(items, "default");
        if (is_whole) {
            const double rising = clamp(items, json_number(item) + (double)i);
            json_close(item);
            item = json_make_number(floor(rising));
        }
        if (item && json_push(list, item)) continue;
        if (i >= least) break;
        json_close(list);
        return NULL;
    }
    return list;
}

static struct json *make_map(const struct json *schema) {
    struct json *map = json_make_map();
    const struct json *required = json_get(schema, "required");
    const struct json *properties = json_get(schema, "properties");
    for (size_t i = 0; i < json_size(required); i++) {
        const char *key = json_text(json_at(required, i));
        map = json_add(map, key, subject_make_up(json_get(properties, key), key));
    }
    return map;
}

static struct json *make_nested(const char *kind) {
    static const char *const known[] = {"dataset", "model", "optimizer"};
    static const char *const names[] = {"check-data", "check-model", "check-optimizer"};
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(known[i], kind) != 0) continue;
        struct json *use = JSON_MAP_OF({"use", json_make_text(names[i])});
        return i == 2 ? json_add(use, "lr", json_make_number(0.05)) : use;
    }
    return NULL;
}

static struct json *make_text(const struct json *schema) {
    const char *format = json_text(json_get(schema, "format"));
    if (!strcmp(format, "duration") || !strcmp(format, "interval"))
        return json_make_text("2step");
    if (!strcmp(format, "metric")) return json_make_text("validation/loss");
    return NULL;
}

struct json *subject_make_up(const struct json *schema, const char *name) {
    const struct json *ready = json_get(schema, "default");
    const struct json *type = json_get(schema, "type");
    const char *format = json_text(json_get(schema, "format"));
    if (!ready) ready = json_get(schema, "const");
    if (!ready) ready = json_at(json_get(schema, "enum"), 0);
    if (ready) return json_clone(ready);
    if (json_get(schema, "oneOf"))
        return subject_make_up(json_at(json_get(schema, "oneOf"), 0), name);
    if (!strncmp(format, "plugin:", 7)) return make_nested(format + 7);
    const char *first =
        json_text(json_kind(type) == JSON_LIST ? json_at(type, 0) : type);
    if (!strcmp(first, "integer")) {
        const bool is_item = json_get(schema, "minimum") &&
                             json_number(json_get(schema, "minimum")) <= 0;
        return json_make_number(floor(clamp(schema, is_item ? 1 : 23)));
    }
    if (!strcmp(first, "number"))
        return json_make_number(clamp(schema, strcmp(name, "lr") ? 0.5 : 0.01));
    if (!strcmp(first, "boolean")) return json_make_truth(false);
    if (!strcmp(first, "array")) return make_list(schema, name);
    if (!strcmp(first, "object")) return make_map(schema);
    return make_text(schema);
}
