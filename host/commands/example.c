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
    struct json *use = json_make_map();
    json_put(use, "use", json_make_text("NAME"));
    return use;
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
    for (int64_t i = 0; list && i < count; i++)
        json_push(list, make_value(json_get(schema, "items")));
    return list;
}

static struct json *make_map(const struct json *schema) {
    struct json *map = json_make_map();
    const struct json *required = json_get(schema, "required");
    for (size_t i = 0; map && i < json_size(required); i++) {
        const char *key = json_text(json_at(required, i));
        json_put(map, key, make_value(json_get(json_get(schema, "properties"), key)));
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
    struct json *use = json_make_map();
    json_put(use, "use", json_make_text(manifest->name));
    for (size_t i = 0; i < json_size(manifest->options); i++) {
        const struct json *schema = json_at(manifest->options, i);
        const char *name = json_key_at(manifest->options, i);
        bool is_required =
            !json_get(schema, "default") && !json_truth(json_get(schema, "optional"));
        bool is_rate =
            manifest->kind == LATHE_KIND_OPTIMIZER && strcmp(name, "lr") == 0;
        if (is_required || is_rate)
            json_put(use, name, is_rate ? make_rate(schema) : make_value(schema));
    }
    return use;
}

struct json *example_make(const struct manifest *manifest) {
    if (manifest->kind == LATHE_KIND_NONE || manifest->kind == LATHE_KIND_COMM)
        return NULL;
    struct json *example = json_make_map(), *value = make_use(manifest);
    const char *key = manifest_kind_name(manifest->kind);
    if (manifest->kind == LATHE_KIND_CALLBACK) {
        struct json *list = json_make_list();
        json_push(list, value);
        value = list;
        key = "callbacks";
    } else if (manifest->kind == LATHE_KIND_DATASET) {
        struct json *splits = json_make_map();
        json_put(splits, "train", value);
        value = splits;
        key = "data";
    }
    if (example && json_put(example, key, value)) return example;
    json_close(example);
    return NULL;
}
