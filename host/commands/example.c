/* SPDX-License-Identifier: MIT */
#include "commands/example.h"

#include <string.h>

#define ITEMS_SHOWN 8

static struct json *make_value(const struct json *schema);

static struct json *make_for_format(const char *format) {
    if (strcmp(format, "duration") == 0 || strcmp(format, "interval") == 0)
        return json_make_text("1ep");
    if (strcmp(format, "path") == 0) return json_make_text("FILE");
    if (strcmp(format, "metric") == 0) return json_make_text("validation/loss");
    if (strncmp(format, "plugin:", 7) != 0) return NULL;
    return JSON_MAP_OF({"use", json_make_text("NAME")});
}

/* One that is allowed, as near to a bound as can be; 1 without bounds. */
static struct json *make_number(const struct json *schema) {
    const struct json *least = json_get(schema, "minimum");
    const struct json *below = json_get(schema, "exclusiveMinimum");
    const struct json *most = json_get(schema, "maximum");
    const struct json *above = json_get(schema, "exclusiveMaximum");
    double number = least ? json_number(least) : below ? json_number(below) + 1 : 1;
    if (most && number > json_number(most)) number = json_number(most);
    if (above && number >= json_number(above))
        number = below ? (json_number(below) + json_number(above)) / 2
                       : json_number(above) - 1;
    return json_make_number(number);
}

static struct json *make_list(const struct json *schema) {
    struct json *list = json_make_list();
    int64_t count = json_whole(json_get(schema, "minItems"));
    if (count > ITEMS_SHOWN) count = ITEMS_SHOWN;
    for (int64_t i = 0; i < count; i++)
        list = json_append(list, make_value(json_get(schema, "items")));
    return list;
}

static struct json *make_map(const struct json *schema) {
    struct json *map = json_make_map();
    const struct json *required = json_get(schema, "required");
    const struct json *properties = json_get(schema, "properties");
    for (size_t i = 0; i < json_size(required); i++) {
        const char *key = json_text(json_at(required, i));
        map = json_add(map, key, make_value(json_get(properties, key)));
    }
    return map;
}

static struct json *make_for_type(const struct json *schema) {
    const struct json *type = json_get(schema, "type");
    const char *name =
        json_text(json_kind(type) == JSON_LIST ? json_at(type, 0) : type);
    if (strcmp(name, "integer") == 0 || strcmp(name, "number") == 0)
        return make_number(schema);
    if (strcmp(name, "boolean") == 0) return json_make_truth(false);
    if (strcmp(name, "array") == 0) return make_list(schema);
    if (strcmp(name, "object") == 0) return make_map(schema);
    return json_make_text("TEXT");
}

static struct json *make_value(const struct json *schema) {
    const struct json *ready = json_get(schema, "default");
    if (!ready) ready = json_get(schema, "const");
    if (!ready) ready = json_at(json_get(schema, "enum"), 0);
    if (ready) return json_clone(ready);
    if (json_get(schema, "oneOf"))
        return make_value(json_at(json_get(schema, "oneOf"), 0));
    struct json *value = make_for_format(json_text(json_get(schema, "format")));
    return value ? value : make_for_type(schema);
}

/* The bound of a rate is where nothing is trained. */
static struct json *make_rate(const struct json *schema) {
    const double rate = 0.01;
    const struct json *least = json_get(schema, "minimum");
    const struct json *below = json_get(schema, "exclusiveMinimum");
    const struct json *most = json_get(schema, "maximum");
    const bool is_allowed = !(least && json_number(least) > rate) &&
                            !(below && json_number(below) >= rate) &&
                            !(most && json_number(most) < rate);
    return is_allowed && !json_get(schema, "default") ? json_make_number(rate)
                                                      : make_value(schema);
}

static struct json *make_use(const struct manifest *manifest) {
    struct json *use = JSON_MAP_OF({"use", json_make_text(manifest->name)});
    for (struct json_member at = {0}; json_next(manifest->options, &at);) {
        bool is_required = !json_get(at.value, "default") &&
                           !json_truth(json_get(at.value, "optional"));
        bool is_rate =
            manifest->kind == LATHE_KIND_OPTIMIZER && strcmp(at.key, "lr") == 0;
        if (is_required || is_rate)
            use = json_add(use, at.key,
                           is_rate ? make_rate(at.value) : make_value(at.value));
    }
    return use;
}

struct json *example_make(const struct manifest *manifest) {
    if (manifest->kind == LATHE_KIND_NONE || manifest->kind == LATHE_KIND_COMM)
        return NULL;
    struct json *use = make_use(manifest);
    if (manifest->kind == LATHE_KIND_CALLBACK)
        return JSON_MAP_OF({"callbacks", json_append(json_make_list(), use)});
    if (manifest->kind == LATHE_KIND_DATASET)
        return JSON_MAP_OF({"data", JSON_MAP_OF({"train", use})});
    return JSON_MAP_OF({manifest_kind_name(manifest->kind), use});
}
