/* SPDX-License-Identifier: MIT */
/* Override paths, and where the value at one comes from. */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "experiment_parts.h"

const char *experiment_callback_id(const struct json *callback) {
    const char *id = json_text(json_get(callback, "id"));
    return id[0] != '\0' ? id : json_text(json_get(callback, "use"));
}

size_t experiment_index(const struct json *list, const char *part, bool is_callbacks) {
    const size_t count = json_size(list), digits = strspn(part, "0123456789");
    size_t index = count;
    if (digits && digits < 10 && !part[digits]) {
        index = strtoul(part, NULL, 10);
    } else if (is_callbacks) {
        for (index = 0; index < count; index++)
            if (!strcmp(experiment_callback_id(json_at(list, index)), part)) break;
    }
    return index < count ? index : count;
}

/* The value at an override path, borrowed; NULL: not there. *canonical, which may be
 * NULL, gets the path with callbacks by index. */
static struct json *find_value(struct json *root, const char *path,
                               struct text *canonical) {
    char *copy = text_copy(path), *rest = copy;
    const char *outer = ""; /* the key right around, if that is one of the file's */
    struct json *value = copy ? root : NULL;
    struct text ignored = {0};
    if (!canonical) canonical = &ignored;
    while (value && rest && *rest) {
        /* The names of metrics and of parameters may have dots. */
        const bool is_last = !strcmp(outer, "expect") || !strcmp(outer, "rename");
        char *part = is_last ? rest : strsep(&rest, ".");
        if (part == rest) rest = NULL;
        if (part != copy) text_add(canonical, ".");
        if (json_kind(value) == JSON_LIST) {
            size_t index =
                experiment_index(value, part, strcmp(outer, "callbacks") == 0);
            text_format(canonical, "%zu", index);
            value = json_at(value, index);
        } else {
            text_add(canonical, part);
            value = json_get(value, part);
        }
        outer = part == copy || (!strcmp(outer, "start") && !strcmp(part, "rename"))
                    ? part
                    : "";
    }
    text_finish(&ignored);
    free(copy);
    return value;
}

static bool is_within(const char *path, const char *outer) {
    const size_t length = strlen(outer);
    return length > 0 && strncmp(path, outer, length) == 0 &&
           (path[length] == '\0' || path[length] == '.');
}

/* Who wrote what stands at a place of the file, overrides included. */
static const char *origin_at(const struct experiment *whole, const char *place) {
    const bool is_given = find_value(whole->given, place, NULL) != NULL;
    /* What is neither overridden nor given is the rest of a default list, one item of
     * which was overridden. */
    const char *origin = is_given ? "file" : "default";
    for (size_t i = 0; i < whole->override_count; i++) {
        const char *found = whole->override_paths[i];
        if (found &&
            (is_within(place, found) || (!is_given && is_within(found, place))))
            origin = "command line";
    }
    return origin;
}

/* Where in the file the value at a path was written, the caller's: in the stage, or
 * outside of all. NULL: nowhere. */
static char *find_place(const struct experiment *e, const struct experiment *whole,
                        const char *path) {
    struct text place = {0};
    struct json *root =
        whole->staged && is_within(path, "stages") ? whole->staged : e->written;
    if (!find_value(root, path, &place)) text_finish(&place);
    if (!place.data || root == whole->staged || !whole->staged) return place.data;
    char *inner = text_make("stages.%zu.%s", e->stage, place.data);
    if (inner && find_value(whole->staged, inner, NULL)) {
        text_finish(&place);
        return inner;
    }
    free(inner);
    return place.data;
}

const char *experiment_origin(const struct experiment *experiment, const char *path) {
    const struct experiment *whole = experiment->whole ? experiment->whole : experiment;
    if (whole->is_seed_drawn && strcmp(path, "seed") == 0) return "drawn";
    char *place = find_place(experiment, whole, path);
    const char *origin = place ? origin_at(whole, place) : "default";
    free(place);
    return origin;
}

void experiment_where(const struct experiment *experiment, const char *path,
                      struct error *err) {
    const char *origin = experiment_origin(experiment, path);
    if (!strcmp(origin, "command line"))
        error_where(err, "%s: %s", origin, path);
    else
        error_where(err, "%.*s: %s", EXPERIMENT_FILE_SHOWN, experiment->file, path);
}

char *experiment_path_at(const struct experiment *e, const char *path,
                         const struct json *value, size_t index) {
    if (json_kind(value) == JSON_MAP)
        return text_make("%s%s%s", path, *path ? "." : "", json_key_at(value, index));
    return !strcmp(path, "callbacks") ? text_copy(e->callbacks[index].path)
                                      : text_make("%s.%zu", path, index);
}

static struct json *add_origins(struct json *origins, const struct experiment *e,
                                const char *path, const struct json *value) {
    if (json_size(value) == 0)
        return json_add(origins, path, json_make_text(experiment_origin(e, path)));
    for (size_t i = 0; i < json_size(value); i++) {
        char *inner = experiment_path_at(e, path, value, i);
        origins = inner ? add_origins(origins, e, inner, json_at(value, i))
                        : json_add(origins, NULL, NULL);
        free(inner);
    }
    return origins;
}

/* Whoever runs it again has to find the same plugins. */
static struct json *list_absolute(const char *const *paths) {
    struct json *list = json_make_list();
    for (; paths && *paths; paths++) {
        char *absolute = path_absolute(*paths);
        list = json_append(list, absolute ? json_make_text(absolute) : NULL);
        free(absolute);
    }
    return list;
}

void experiment_write_resolved(const struct experiment *e,
                               const char *const *plugin_paths, const char *run,
                               const struct json *from, struct text *text) {
    struct json *origins = add_origins(json_make_map(), e, "", e->resolved);
    struct json *root = experiment_whole(e);
    if (run) root = json_add(root, "run", json_make_text(run));
    if (from) root = json_add(root, "from", json_clone(from));
    root = json_add(root, "origin", origins);
    root = json_add(root, "plugin_path", list_absolute(plugin_paths));
    json_write_document(root, text, 2);
}

/* Is it the "format": "path" of a data set, or a list of them? */
static bool is_path_of(const struct use *use, const char *path) {
    const size_t length = strlen(use->path);
    if (strncmp(path, use->path, length) != 0 || path[length] != '.') return false;
    for (size_t i = 0; i < use->nested_count; i++)
        if (is_path_of(&use->nested[i], path)) return true;
    const struct json *schema =
        options_declaration(use->manifest->options, path + length + 1);
    if (json_get(schema, "items")) schema = json_get(schema, "items");
    return !strcmp(json_text(json_get(schema, "format")), "path");
}

bool experiment_is_path(const struct experiment *experiment, const char *path) {
    for (size_t i = 0; i < experiment->data_count; i++)
        if (is_path_of(&experiment->data[i].use, path)) return true;
    return false;
}
