/* SPDX-License-Identifier: MIT */
/* Override paths, and where the value at one comes from. */
#include <stdlib.h>
#include <string.h>

#include "experiment_parts.h"

const char *experiment_callback_id(const struct json *callback) {
    const char *id = json_text(json_get(callback, "id"));
    return id[0] != '\0' ? id : json_text(json_get(callback, "use"));
}

size_t experiment_callback_index(const struct json *callbacks, const char *id,
                                 size_t length) {
    size_t i = 0;
    for (; i < json_size(callbacks); i++) {
        const char *found = experiment_callback_id(json_at(callbacks, i));
        if (strlen(found) == length && strncmp(found, id, length) == 0) break;
    }
    return i;
}

static bool read_index(const char *digits, size_t length, size_t *index) {
    if (length == 0 || length > 9) return false;
    *index = 0;
    for (size_t i = 0; i < length; i++) {
        if (digits[i] < '0' || digits[i] > '9') return false;
        *index = *index * 10 + (size_t)(digits[i] - '0');
    }
    return true;
}

static struct json *get_part(struct json *map, const char *part, size_t length) {
    char key[256];
    if (length >= sizeof key) return NULL;
    memcpy(key, part, length);
    key[length] = '\0';
    return json_get(map, key);
}

/* Are the parts of the path from here on within that key of the file? */
static bool is_right_in(const char *path, const char *part, const char *key) {
    const size_t length = strlen(key);
    return (size_t)(part - path) == length + 1 && strncmp(path, key, length) == 0;
}

struct json *experiment_value(struct json *root, const char *path,
                              struct text *canonical) {
    struct text ignored = {0};
    struct text *written = canonical ? canonical : &ignored;
    struct json *value = root;
    const char *part = path;
    while (value && *part != '\0') {
        /* The names of metrics may have dots. */
        const size_t length =
            is_right_in(path, part, "expect") ? strlen(part) : strcspn(part, ".");
        size_t index = 0;
        if (part != path) text_add(written, ".");
        if (json_kind(value) != JSON_LIST) {
            text_add_bytes(written, part, length);
            value = get_part(value, part, length);
        } else {
            if (!read_index(part, length, &index))
                index = is_right_in(path, part, "callbacks")
                            ? experiment_callback_index(value, part, length)
                            : json_size(value);
            text_format(written, "%zu", index);
            value = json_at(value, index);
        }
        part += length;
        if (*part == '.') part++;
    }
    text_finish(&ignored);
    return value;
}

static bool is_within(const char *path, const char *outer) {
    const size_t length = strlen(outer);
    return length > 0 && strncmp(path, outer, length) == 0 &&
           (path[length] == '\0' || path[length] == '.');
}

/* Did an override write this value, or, where the file has none, a part of it? */
static bool is_overridden(const struct experiment *experiment, const char *canonical,
                          bool is_given) {
    for (size_t i = 0; i < experiment->override_count; i++) {
        const char *path = experiment->override_paths[i];
        if (path &&
            (is_within(canonical, path) || (!is_given && is_within(path, canonical))))
            return true;
    }
    return false;
}

const char *experiment_origin(const struct experiment *experiment, const char *path) {
    struct text canonical = {0};
    const char *origin = "default";
    if (experiment->is_seed_drawn && strcmp(path, "seed") == 0) {
        origin = "drawn";
    } else if (experiment_value(experiment->written, path, &canonical) &&
               canonical.data) {
        /* What is neither overridden nor given is the rest of a default list, one item
         * of which was overridden. */
        const bool is_given =
            experiment_value(experiment->given, canonical.data, NULL) != NULL;
        if (is_overridden(experiment, canonical.data, is_given)) {
            origin = "command line";
        } else if (is_given) {
            origin = "file";
        }
    }
    text_finish(&canonical);
    return origin;
}

/* One member of "origin" per value that holds no others. */
static bool put_origins(const struct experiment *experiment, const struct json *value,
                        const char *path, struct json *origins) {
    const size_t count = json_size(value);
    if (count == 0)
        return json_put(origins, path,
                        json_make_text(experiment_origin(experiment, path)));
    bool is_done = true;
    for (size_t i = 0; i < count && is_done; i++) {
        struct text inner = {0};
        text_format(&inner, "%s%s", path, path[0] != '\0' ? "." : "");
        if (json_kind(value) == JSON_MAP) {
            text_add(&inner, json_key_at(value, i));
        } else if (strcmp(path, "callbacks") == 0) {
            text_add(&inner, experiment->callbacks[i].path + strlen("callbacks."));
        } else {
            text_format(&inner, "%zu", i);
        }
        is_done =
            !inner.is_broken && put_origins(experiment, json_at(value, i),
                                            inner.data ? inner.data : "", origins);
        text_finish(&inner);
    }
    return is_done;
}

void experiment_write_resolved(const struct experiment *experiment, struct text *text) {
    struct json *root = json_make_map(), *origins = json_make_map();
    const bool is_done = root && origins &&
                         put_origins(experiment, experiment->resolved, "", origins) &&
                         json_put(root, "experiment", json_clone(experiment->resolved));
    if (is_done && json_put(root, "origin", origins)) {
        json_write(root, text, 2);
        text_add(text, "\n");
    } else {
        text->is_broken = true;
        if (!is_done) json_close(origins);
    }
    json_close(root);
}
