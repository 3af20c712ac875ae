/* SPDX-License-Identifier: MIT */
/* path=value: walks down the schema and the values side by side, so that every value is
 * typed by what the format or a plugin's manifest declares there. */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "experiment_parts.h"

/* Where a walk has come to. */
struct place {
    const struct json
        *options; /* of the innermost plugin, or of the file: name → schema */
    const struct json *schema; /* declares this place; NULL: `format` alone does */
    const char *format;        /* "" for none; "text" for a string that is only that */
    char within[256];          /* path from what `options` describes, with '/' */
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
    struct error *err = refuse(walk, what, key);
    struct nearest nearest;
    struct text list = {0};
    nearest_begin(&nearest, key);
    for (size_t i = 0; i < json_size(known); i++) {
        nearest_offer(&nearest, json_key_at(known, i));
        text_format(&list, "%s%s", i > 0 ? ", " : "", json_key_at(known, i));
    }
    const char *names = list.data ? list.data : "none";
    if (nearest.best) {
        error_help(err, "did you mean \"%s\"? Allowed: %s", nearest.best, names);
    } else {
        error_help(err, "allowed: %s", names);
    }
    text_finish(&list);
}

static void descend(struct place *place, const struct json *schema,
                    const char *format) {
    place->schema = schema;
    place->format = format ? format : json_text(json_get(schema, "format"));
}

/* Into a member of a plugin's options; an unknown plugin's members are taken as they
 * are, since the plugin itself is the fault then. */
static void enter_option(struct walk *walk, struct place *place, uint32_t kind,
                         const char *name, const char *key) {
    const struct manifest *manifest = NULL;
    struct error ignored;
    place->within[0] = '\0';
    if (name[0] == '\0' || registry_find(walk->opening->registry, kind, name, &manifest,
                                         &ignored) != LATHE_OK) {
        descend(place, NULL, NULL);
        return;
    }
    char what[160];
    snprintf(what, sizeof what, "%s %s has no option", manifest_kind_name(kind), name);
    place->options = manifest->options;
    snprintf(place->within, sizeof place->within, "%s", key);
    descend(place, json_get(manifest->options, key), NULL);
    if (!place->schema) refuse_key(walk, what, key, manifest->options);
}

static void enter_plugin(struct walk *walk, struct place *place, const char *key) {
    const uint32_t kind = plugin_kind(place);
    if (strcmp(key, "use") == 0 || strcmp(key, "id") == 0)
        descend(place, NULL, "text");
    else if (kind == LATHE_KIND_OPTIMIZER && strcmp(key, "groups") == 0)
        descend(place, NULL, "groups");
    else
        enter_option(walk, place, kind, json_text(json_get(place->value, "use")), key);
}

/* Into a group of the optimizer's: its pattern, or an option of the optimizer. */
static void enter_group(struct walk *walk, struct place *place, const char *key) {
    const struct json *optimizer =
        json_get(walk->opening->experiment->written, "optimizer");
    if (strcmp(key, "match") == 0)
        descend(place, NULL, "text");
    else
        enter_option(walk, place, LATHE_KIND_OPTIMIZER,
                     json_text(json_get(optimizer, "use")), key);
}

/* Into a member or item that the schema declares. */
static void enter_declared(struct walk *walk, struct place *place, const char *key) {
    const struct json *properties = json_get(place->schema, "properties");
    const size_t length = strlen(place->within);
    if (length + strlen(key) + 2 > sizeof place->within) {
        refuse(walk, "no option has a path this long:", key);
        return;
    }
    snprintf(place->within + length, sizeof place->within - length, "%s%s",
             length > 0 ? "/" : "", key);
    descend(place, options_declaration(place->options, place->within), NULL);
    if (place->schema) return;
    if (properties) {
        refuse_key(walk, "unknown key", key, properties);
    } else {
        error_help(refuse(walk, "nothing can have the name", key),
                   "a value without names of its own is in the way");
    }
}

static size_t find_item(struct walk *walk, struct place *list, const char *key) {
    char *end;
    const size_t count = json_size(list->value);
    const bool is_callbacks =
        list->value == json_get(walk->opening->experiment->written, "callbacks");
    size_t index = strtoul(key, &end, 10);
    const bool is_number = *key >= '0' && *key <= '9' && *end == '\0';
    if (!is_number)
        index = is_callbacks ? experiment_callback_index(list->value, key, strlen(key))
                             : count;
    if (index < count) return index;

    struct error *err = refuse(
        walk, is_callbacks && !is_number ? "there is no callback" : "there is no item",
        key);
    struct nearest nearest;
    struct text known = {0};
    nearest_begin(&nearest, key);
    for (size_t i = 0; is_callbacks && i < count; i++) {
        const char *id = experiment_callback_id(json_at(list->value, i));
        nearest_offer(&nearest, id);
        text_format(&known, "%s%s", i > 0 ? ", " : "", id);
    }
    if (count == 0) {
        error_help(err, "the list is empty");
    } else if (!is_callbacks) {
        error_help(err, "the list has items 0 to %zu", count - 1);
    } else if (nearest.best) {
        error_help(err, "did you mean \"%s\"? There are: %s", nearest.best, known.data);
    } else {
        error_help(err, "there are: %s", known.data ? known.data : "");
    }
    text_finish(&known);
    return index;
}

static bool may_be(const struct json *schema, const char *type) {
    const struct json *types = json_get(schema, "type");
    if (strcmp(json_text(types), type) == 0) return true;
    for (size_t i = 0; i < json_size(types); i++)
        if (strcmp(json_text(json_at(types, i)), type) == 0) return true;
    return false;
}

static bool is_text_wanted(const struct place *place, const char *value) {
    const struct json *schema = place->schema;
    if (is_format(place, "text")) return true;
    if (is_format(place, "duration") || is_format(place, "interval"))
        return value[0] != '[';
    if (strcmp(json_text(json_get(schema, "type")), "string") == 0) return true;
    const struct json *choices = json_get(schema, "enum");
    for (size_t i = 0; i < json_size(choices); i++)
        if (json_kind(json_at(choices, i)) == JSON_TEXT &&
            strcmp(json_text(json_at(choices, i)), value) == 0)
            return true;
    const struct json *constant = json_get(schema, "const");
    return json_kind(constant) == JSON_TEXT && strcmp(json_text(constant), value) == 0;
}

/* A value that is not of the declared type goes in as text; the check of the whole
 * finds it there and says so. */
static struct json *read_value(const struct place *place, const char *value) {
    struct json *parsed = NULL;
    if (is_text_wanted(place, value) ||
        json_parse(value, strlen(value), "value", &parsed, NULL) != LATHE_OK)
        return json_make_text(value);
    if (json_kind(parsed) == JSON_TEXT || !may_be(place->schema, "string"))
        return parsed;
    const bool is_fit =
        (json_kind(parsed) == JSON_NUMBER &&
         (may_be(place->schema, "number") || may_be(place->schema, "integer"))) ||
        (json_kind(parsed) == JSON_BOOLEAN && may_be(place->schema, "boolean")) ||
        (json_kind(parsed) == JSON_LIST && may_be(place->schema, "array")) ||
        (json_kind(parsed) == JSON_MAP && may_be(place->schema, "object"));
    if (is_fit) return parsed;
    json_close(parsed);
    return json_make_text(value);
}

/* What the schema says of a member or item of what is there. */
static void enter(struct walk *walk, struct place *place, const char *key) {
    if (is_format(place, "data")) {
        descend(place, NULL, "plugin:dataset");
    } else if (is_format(place, "expect")) {
        descend(place, NULL, "text");
    } else if (is_format(place, "groups")) {
        descend(place, NULL, "group");
    } else if (is_format(place, "group")) {
        enter_group(walk, place, key);
    } else if (plugin_kind(place) != LATHE_KIND_NONE) {
        enter_plugin(walk, place, key);
    } else if (place->schema) {
        enter_declared(walk, place, key);
    } else {
        descend(place, NULL, NULL); /* inside an unknown plugin */
    }
}

/* What a container that is not there starts with: its default, else nothing. */
static struct json *make_container(struct walk *walk, const struct place *place) {
    const struct json *given = json_get(place->schema, "default");
    if (given) return json_clone(given);
    if (!may_be(place->schema, "array")) return json_make_map();
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
    struct place place = {.options = json_get(opening->schema, "properties"),
                          .schema = opening->schema,
                          .format = "",
                          .value = opening->experiment->written};
    if (!path) return experiment_keep(opening, NULL);
    if (equals) path[equals - override] = '\0';
    if (!equals || equals == override) {
        error_help(refuse(&walk, "path=value was expected, found", override),
                   "for example optimizer.lr=0.01");
    }
    for (char *part = path; part && !walk.fault && !opening->is_broken;) {
        char *dot = is_format(&place, "expect") ? NULL : strchr(part, '.');
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
