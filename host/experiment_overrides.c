/* SPDX-License-Identifier: MIT */
/* path=value: walks down the schema and the values side by side, so that every value is
 * typed by what the format or a plugin's manifest declares there. */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "experiment_parts.h"

/* Where a walk has come to. */
struct place {
    const struct json *schema; /* declares this place; NULL: `format` alone does */
    const char *format;        /* "" for none; "text" for a string that is only that */
    struct json *value;        /* what is there; NULL: nothing yet */
};

struct walk {
    struct opening *opening;
    const char *path; /* as given */
    struct text canonical;
    struct error *fault; /* NULL while all is well */
};

static bool is_format(const struct place *place, const char *format) {
    return strcmp(place->format, format) == 0;
}

static uint32_t plugin_kind(const struct place *place) {
    const size_t length = strlen("plugin:");
    return strncmp(place->format, "plugin:", length) == 0
               ? manifest_kind_find(place->format + length)
               : LATHE_KIND_NONE;
}

static struct error *refuse(struct walk *walk, const char *what, const char *key) {
    struct error *err = errors_add(walk->opening->errors);
    fail(err, LATHE_EINVAL, "%s \"%s\"", what, key);
    error_where(err, "command line%s%s", *walk->path ? ": " : "", walk->path);
    walk->fault = err;
    return err;
}

/* With the keys of a map as what is allowed. */
static void refuse_key(struct walk *walk, const char *what, const char *key,
                       const struct json *known) {
    struct nearest nearest;
    nearest_begin(&nearest, key);
    for (size_t i = 0; i < json_size(known); i++)
        nearest_list(&nearest, json_key_at(known, i));
    nearest_help(&nearest, "allowed", refuse(walk, what, key));
}

/* An option of the plugin that an object names; NULL: a fault, or an unknown plugin,
 * whose members are taken as they are, since the plugin itself is the fault then. */
static const struct json *find_option(struct walk *walk, uint32_t kind,
                                      const struct json *object, const char *key) {
    const struct manifest *manifest = NULL;
    const char *name = json_text(json_get(object, "use"));
    if (!name[0] || registry_find(walk->opening->registry, kind, name, &manifest, NULL))
        return NULL;
    char what[160];
    snprintf(what, sizeof what, "%s %s has no option", manifest_kind_name(kind), name);
    if (!json_get(manifest->options, key))
        refuse_key(walk, what, key, manifest->options);
    return json_get(manifest->options, key);
}

/* What is declared of a member or item. */
static void enter(struct walk *walk, struct place *place, const char *key) {
    const struct json *written = walk->opening->experiment->written, *inner = NULL;
    const uint32_t kind = plugin_kind(place);
    const char *format = NULL;
    if (is_format(place, "data")) {
        format = "plugin:dataset";
    } else if (is_format(place, "groups")) {
        format = "group";
    } else if (is_format(place, "expect") || is_format(place, "rename") ||
               (is_format(place, "group") && strcmp(key, "match") == 0) ||
               (kind && (strcmp(key, "use") == 0 || strcmp(key, "id") == 0))) {
        format = "text";
    } else if (kind == LATHE_KIND_OPTIMIZER && strcmp(key, "groups") == 0) {
        format = "groups";
    } else if (is_format(place, "group")) {
        inner = find_option(walk, LATHE_KIND_OPTIMIZER, json_get(written, "optimizer"),
                            key);
    } else if (kind) {
        inner = find_option(walk, kind, place->value, key);
    } else {
        const struct json *properties = json_get(place->schema, "properties");
        inner = options_inner(place->schema, key);
        if (properties && !inner) refuse_key(walk, "unknown key", key, properties);
    }
    place->schema = inner;
    place->format = format ? format : json_text(json_get(inner, "format"));
}

static size_t find_item(struct walk *walk, struct place *list, const char *key) {
    const size_t count = json_size(list->value);
    const bool is_callbacks =
        list->value == json_get(walk->opening->experiment->written, "callbacks");
    const size_t index = experiment_index(list->value, key, is_callbacks);
    if (index < count) return index;
    const bool is_id = is_callbacks && (*key < '0' || *key > '9');
    struct error *err =
        refuse(walk, is_id ? "there is no callback" : "there is no item", key);
    struct nearest nearest;
    nearest_begin(&nearest, key);
    for (size_t i = 0; is_callbacks && i < count; i++)
        nearest_list(&nearest, experiment_callback_id(json_at(list->value, i)));
    if (count == 0)
        error_help(err, "the list is empty");
    else if (is_callbacks)
        nearest_help(&nearest, "there are", err);
    else
        error_help(err, "the list has items 0 to %zu", count - 1);
    return index;
}

static bool fits(const struct json *schema, const struct json *value) {
    struct errors errors = {0};
    const struct option_check check = {.errors = &errors};
    struct json *copy = json_clone(value); /* defaults would be put in */
    options_check(schema, copy, "", &check);
    const bool is_fit = errors.count == 0;
    errors_finish(&errors);
    json_close(copy);
    return is_fit;
}

/* JSON if that is what is declared, else the text as it stands; what is neither, the
 * check of the whole finds there and tells. */
static struct json *read_value(const struct place *place, const char *value) {
    struct json *parsed = NULL, *text = json_make_text(value);
    if (is_format(place, "text") ||
        json_parse(value, strlen(value), "value", &parsed, NULL) != LATHE_OK)
        return text;
    const bool is_text = json_kind(parsed) == JSON_TEXT || !fits(place->schema, parsed);
    const bool is_time = is_format(place, "duration") || is_format(place, "interval");
    const bool takes_text = is_text && (fits(place->schema, text) ||
                                        (is_time && json_kind(parsed) != JSON_LIST));
    json_close(takes_text ? parsed : text);
    return takes_text ? text : parsed;
}

/* What a container that is not there starts with: its default, else nothing. */
static struct json *make_container(struct walk *walk, const struct place *place) {
    const struct json *given = json_get(place->schema, "default");
    if (given) return json_clone(given);
    if (!json_get(place->schema, "items")) return json_make_map();
    error_help(refuse(walk, "there are no items yet in", walk->canonical.data),
               "write the whole list: %s=[…]", walk->canonical.data);
    return NULL;
}

static bool put(struct json *container, const char *key, size_t index,
                struct json *value) {
    return json_kind(container) == JSON_LIST ? json_replace_at(container, index, value)
                                             : json_put(container, key, value);
}

/* One part of the path. With `leaf` the walk ends here and that value is put in. */
static void step(struct walk *walk, struct place *place, const char *key,
                 const char *leaf) {
    struct json *container = place->value;
    const bool is_list = json_kind(container) == JSON_LIST;
    size_t index = 0;
    char digits[24];
    if (!is_list && json_kind(container) != JSON_MAP) {
        char what[64];
        snprintf(what, sizeof what, "%s has no member",
                 json_kind_name(json_kind(container)));
        refuse(walk, what, key);
        return;
    }
    if (is_list) {
        index = find_item(walk, place, key);
        snprintf(digits, sizeof digits, "%zu", index);
        key = digits;
    }
    if (!walk->fault) enter(walk, place, key);
    if (walk->fault) return;
    text_format(&walk->canonical, "%s%s", walk->canonical.length > 0 ? "." : "", key);
    if (walk->canonical.is_broken) {
        walk->opening->is_broken = true;
        return;
    }
    place->value = is_list ? json_at(container, index) : json_get(container, key);
    if (!leaf && place->value) return;
    struct json *made = leaf ? read_value(place, leaf) : make_container(walk, place);
    if (walk->fault) return;
    if (!made || !put(container, key, index, made)) walk->opening->is_broken = true;
    place->value = is_list ? json_at(container, index) : json_get(container, key);
}

/* Returns the canonical path, the caller's; NULL when there was a fault. */
static char *apply(struct opening *opening, const char *override) {
    const char *equals = strchr(override, '=');
    char *path = text_copy(override);
    struct walk walk = {.opening = opening, .path = path};
    struct place place = {
        .schema = opening->schema, .format = "", .value = opening->experiment->written};
    if (!path) return experiment_keep(opening, NULL);
    if (equals) path[equals - override] = '\0';
    if (!equals || equals == override) {
        error_help(refuse(&walk, "path=value was expected, found", override),
                   "for example optimizer.lr=0.01");
    }
    for (char *part = path; part && !walk.fault && !opening->is_broken;) {
        const bool is_last = is_format(&place, "expect") || is_format(&place, "rename");
        char *dot = is_last ? NULL : strchr(part, '.');
        char *key = dot ? strndup(part, (size_t)(dot - part)) : text_copy(part);
        if (experiment_keep(opening, key))
            step(&walk, &place, key, dot ? NULL : equals + 1);
        free(key);
        part = dot ? dot + 1 : NULL;
    }
    char *canonical = NULL;
    if (!walk.fault && walk.canonical.data)
        canonical = experiment_keep(opening, text_copy(walk.canonical.data));
    text_finish(&walk.canonical);
    free(path);
    return canonical;
}

void experiment_override(struct opening *opening) {
    struct experiment *experiment = opening->experiment;
    if (json_kind(experiment->written) != JSON_MAP) return;
    for (size_t i = 0; i < experiment->override_count && !opening->is_broken; i++)
        experiment->override_paths[i] = apply(opening, experiment->overrides[i]);
}
