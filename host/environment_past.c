/* SPDX-License-Identifier: MIT */
#include "environment_past.h"

#include <string.h>

static const char *text_of(const struct json *item, const char *key) {
    return json_text(json_get(item, key));
}

/* The item of the same plugin, or of the same file; NULL: there is none. */
static const struct json *find(const struct json *list, const struct json *item) {
    for (size_t i = 0; i < json_size(list); i++) {
        const struct json *other = json_at(list, i);
        if (!strcmp(text_of(item, "kind"), text_of(other, "kind")) &&
            !strcmp(text_of(item, "name"), text_of(other, "name")) &&
            !strcmp(text_of(item, "path"), text_of(other, "path")))
            return other;
    }
    return NULL;
}

static bool is_item(const struct json *item) {
    return *text_of(item, "name") ||
           (*text_of(item, "path") && *text_of(item, "sha256"));
}

static struct json *add_new(struct json *list, const struct json *items) {
    for (size_t i = 0; i < json_size(items); i++)
        if (is_item(json_at(items, i)) && !find(list, json_at(items, i)))
            list = json_append(list, json_clone(json_at(items, i)));
    return list;
}

void past_open(struct past *past, const struct json *environment, int64_t step) {
    const struct json *earlier = json_get(environment, ENVIRONMENT_EARLIER);
    *past = (struct past){step, json_make_list(), json_make_list(), json_make_list()};
    for (size_t i = 0; i < json_size(earlier); i++) {
        const struct json *entry = json_at(earlier, i);
        if (json_whole(json_get(entry, "step")) < step) {
            past->kept = json_append(past->kept, json_clone(entry));
        } else {
            past->plugins = add_new(past->plugins, json_get(entry, "plugins"));
            past->data = add_new(past->data, json_get(entry, "data"));
        }
    }
    past->plugins = add_new(past->plugins, json_get(environment, "plugins"));
    past->data = add_new(past->data, json_get(environment, "data"));
}

void past_close(struct past *past) {
    json_close(past->kept);
    json_close(past->plugins);
    json_close(past->data);
    *past = (struct past){0};
}

const char *past_digest(const struct past *past, const char *path) {
    return text_of(json_find(past->data, "path", path), "sha256");
}

struct json *past_add_rest(const struct past *past, struct json *data) {
    for (size_t i = 0; i < json_size(past->data); i++) {
        const struct json *file = json_at(past->data, i);
        if (!find(data, file) && !json_find(data, "sha256", text_of(file, "sha256")))
            data = json_append(data, json_clone(file));
    }
    return data;
}

/* One that is gone was the user's to take away, if it was a callback. */
static bool is_other_plugin(const struct json *before, const struct json *plugins) {
    const struct json *now = find(plugins, before);
    if (!now) return strcmp(text_of(before, "kind"), "callback") != 0;
    return strcmp(text_of(before, "version"), text_of(now, "version")) != 0 ||
           strcmp(text_of(before, "sha256"), text_of(now, "sha256")) != 0;
}

static bool is_other_file(const struct json *before, const struct json *data) {
    const char *digest = text_of(before, "sha256");
    const struct json *now = find(data, before);
    return now ? strcmp(text_of(now, "sha256"), digest) != 0
               : !json_find(data, "sha256", digest);
}

struct json *past_list(const struct past *past, const struct json *plugins,
                       const struct json *data) {
    struct json *others = json_make_list(), *files = json_make_list();
    for (size_t i = 0; i < json_size(past->plugins); i++)
        if (is_other_plugin(json_at(past->plugins, i), plugins))
            others = json_append(others, json_clone(json_at(past->plugins, i)));
    for (size_t i = 0; i < json_size(past->data); i++)
        if (is_other_file(json_at(past->data, i), data))
            files = json_append(files, json_clone(json_at(past->data, i)));
    const bool is_other = !others || !files || json_size(others) || json_size(files);
    struct json *entry = JSON_MAP_OF({"step", json_make_whole(past->step)},
                                     {"plugins", others}, {"data", files});
    struct json *list = json_clone(past->kept);
    if (is_other) return json_append(list, entry);
    json_close(entry);
    return list;
}
