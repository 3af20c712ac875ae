/* SPDX-License-Identifier: MIT */
/* What is different in how two runs were made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "commands/compare.h"
#include "receipt.h"

struct json *compare_pair(const char *what, const struct json *a,
                          const struct json *b) {
    return JSON_MAP_OF({"what", json_make_text(what)},
                       {"a", a ? json_clone(a) : json_make_text(NULL)},
                       {"b", b ? json_clone(b) : json_make_text(NULL)});
}

/* Without memory, for `what` also, the list ends as NULL. */
static void add_pair(struct json **list, const char *what, const struct json *a,
                     const struct json *b) {
    *list = json_append(*list, what ? compare_pair(what, a, b) : NULL);
}

/* Of a list whose items have names: what they are called; "" for others. */
static const char *name_of(const struct json *item) {
    const char *id = json_text(json_get(item, "id"));
    return *id ? id : json_text(json_get(item, "use"));
}

static void add_values(struct json **list, const char *path, const struct json *a,
                       const struct json *b);

static void add_member(struct json **list, const char *path, const char *key,
                       const struct json *a, const struct json *b) {
    char *inner = text_make("%s%s%s", path, *path ? "." : "", key);
    if (inner)
        add_values(list, inner, a, b);
    else
        *list = json_append(*list, NULL);
    free(inner);
}

static void add_items(struct json **list, const char *path, const struct json *a,
                      const struct json *b) {
    for (size_t i = 0; i < json_size(a); i++) {
        const struct json *left = json_at(a, i), *right = json_at(b, i);
        char index[24];
        snprintf(index, sizeof index, "%zu", i);
        const char *name = name_of(left);
        const bool is_named = *name && !strcmp(name, name_of(right));
        add_member(list, path, is_named ? name : index, left, right);
    }
}

static void add_values(struct json **list, const char *path, const struct json *a,
                       const struct json *b) {
    if (a && b && json_same(a, b)) return;
    if (json_kind(a) == JSON_MAP && json_kind(b) == JSON_MAP) {
        for (struct json_member at = {0}; json_next(a, &at);)
            add_member(list, path, at.key, at.value, json_get(b, at.key));
        for (struct json_member at = {0}; json_next(b, &at);)
            if (!json_get(a, at.key)) add_member(list, path, at.key, NULL, at.value);
    } else if (json_kind(a) == JSON_LIST && json_kind(b) == JSON_LIST &&
               json_size(a) == json_size(b)) {
        add_items(list, path, a, b);
    } else {
        add_pair(list, path, a, b);
    }
}

/* A receipt without its experiment says no more than whether it is the same. */
static void add_settings(struct json **list, const struct side *a,
                         const struct side *b) {
    const struct json *from = json_get(a->receipt, "from");
    const struct json *other = json_get(b->receipt, "from");
    if (a->resolved && b->resolved) {
        struct json *left = receipt_settings(a->resolved);
        struct json *right = receipt_settings(b->resolved);
        if (left && right)
            add_values(list, "", left, right);
        else
            *list = json_append(*list, NULL);
        json_close(left);
        json_close(right);
    } else if (!a->is_packed && !b->is_packed) {
        add_values(list, "experiment", json_get(a->receipt, "experiment"),
                   json_get(b->receipt, "experiment"));
    }
    if (from || other) add_values(list, "from", from, other);
}

/* ---- plugins and data ---- */

static struct json *plugin_text(const struct json *plugin) {
    const char *digest = json_text(json_get(plugin, "sha256"));
    char *text = text_make("%s%s%.12s", json_text(json_get(plugin, "version")),
                           *digest ? " sha256 " : "", digest);
    struct json *json = plugin && text ? json_make_text(text) : NULL;
    free(text);
    return json;
}

static bool is_plugin(const struct json *plugin, const struct json *other) {
    return !strcmp(json_text(json_get(plugin, "kind")),
                   json_text(json_get(other, "kind"))) &&
           !strcmp(json_text(json_get(plugin, "name")),
                   json_text(json_get(other, "name")));
}

static const struct json *find_plugin(const struct json *list,
                                      const struct json *wanted) {
    for (size_t i = 0; i < json_size(list); i++)
        if (is_plugin(json_at(list, i), wanted)) return json_at(list, i);
    return NULL;
}

static void add_plugin(struct json **list, const struct json *a, const struct json *b,
                       const char *when) {
    const struct json *known = a ? a : b;
    if (a && b && json_same(json_get(a, "version"), json_get(b, "version")) &&
        json_same(json_get(a, "sha256"), json_get(b, "sha256")))
        return;
    char *name = text_make("%s %s%s", json_text(json_get(known, "kind")),
                           json_text(json_get(known, "name")), when);
    struct json *left = plugin_text(a), *right = plugin_text(b);
    add_pair(list, name, left, right);
    json_close(left);
    json_close(right);
    free(name);
}

static void add_plugins(struct json **list, const struct side *a,
                        const struct side *b) {
    const struct json *left = json_get(a->receipt, "plugins");
    const struct json *right = json_get(b->receipt, "plugins");
    for (size_t i = 0; i < json_size(left); i++)
        add_plugin(list, json_at(left, i), find_plugin(right, json_at(left, i)), "");
    for (size_t i = 0; i < json_size(right); i++)
        if (!find_plugin(left, json_at(right, i)))
            add_plugin(list, NULL, json_at(right, i), "");
}

/* One that was not hashed in time has no digest, and is not known to differ. */
static void add_file(struct json **list, const struct json *a, const struct json *b,
                     const char *when) {
    const struct json *one = json_get(a, "sha256"), *other = json_get(b, "sha256");
    const bool are_known = json_kind(one) == JSON_TEXT && json_kind(other) == JSON_TEXT;
    if (a && b && (!are_known || json_same(one, other))) return;
    char *name =
        text_make("%s%s", path_name(json_text(json_get(a ? a : b, "path"))), when);
    add_pair(list, name, one, other);
    free(name);
}

/* The n-th file of a name is compared with the n-th, wherever both lie; a file whose
 * name the other side does not have, with one of the same place in the list. */
static const struct json *find_file(const struct json *list, const struct json *of,
                                    size_t at) {
    const char *name = path_name(json_text(json_get(json_at(of, at), "path")));
    size_t before = 0;
    for (size_t i = 0; i < at; i++)
        before += !strcmp(path_name(json_text(json_get(json_at(of, i), "path"))), name);
    for (size_t i = 0; i < json_size(list); i++)
        if (!strcmp(path_name(json_text(json_get(json_at(list, i), "path"))), name) &&
            before-- == 0)
            return json_at(list, i);
    return NULL;
}

static void add_data(struct json **list, const struct side *a, const struct side *b) {
    const struct json *left = json_get(a->receipt, "data");
    const struct json *right = json_get(b->receipt, "data");
    for (size_t i = 0; i < json_size(left); i++) {
        const struct json *other = find_file(right, left, i);
        if (!other && i < json_size(right) && !find_file(left, right, i))
            other = json_at(right, i);
        add_file(list, json_at(left, i), other, "");
    }
    for (size_t i = 0; i < json_size(right); i++)
        if (!find_file(left, right, i) &&
            (i >= json_size(left) || find_file(right, left, i)))
            add_file(list, NULL, json_at(right, i), "");
}

/* ---- what was at work earlier ---- */

/* What was at work at that step, where the other side has the item of a list. */
static const struct json *find_then(const struct json *receipt, const char *key,
                                    const struct json *list, size_t at,
                                    const struct json *step) {
    const struct json *earlier = json_get(receipt, RECEIPT_EARLIER);
    const struct json *found = NULL;
    for (size_t i = 0; i <= json_size(earlier) && !found; i++) {
        const struct json *entry =
            i < json_size(earlier) ? json_at(earlier, i) : receipt;
        if (entry != receipt && json_whole(json_get(entry, "step")) < json_whole(step))
            continue; /* over by then */
        found = !strcmp(key, "data")
                    ? find_file(json_get(entry, key), list, at)
                    : find_plugin(json_get(entry, key), json_at(list, at));
    }
    return found;
}

/* Up to which step something else was at work on one side, and what the other had then.
 * `is_swapped`: `b` is the first of the two. */
static void add_earlier(struct json **list, const char *key, const struct side *a,
                        const struct side *b, bool is_swapped) {
    const struct json *earlier = json_get(a->receipt, RECEIPT_EARLIER);
    for (size_t i = 0; i < json_size(earlier); i++) {
        const struct json *step = json_get(json_at(earlier, i), "step");
        const struct json *items = json_get(json_at(earlier, i), key);
        char when[48];
        snprintf(when, sizeof when, ", up to step %lld", (long long)json_whole(step));
        for (size_t k = 0; k < json_size(items); k++) {
            const struct json *own = json_at(items, k);
            const struct json *other = find_then(b->receipt, key, items, k, step);
            (!strcmp(key, "data") ? add_file : add_plugin)(
                list, is_swapped ? other : own, is_swapped ? own : other, when);
        }
    }
}

static void add_all_plugins(struct json **list, const struct side *a,
                            const struct side *b) {
    add_plugins(list, a, b);
    add_earlier(list, "plugins", a, b, false);
    add_earlier(list, "plugins", b, a, true);
}

static void add_all_data(struct json **list, const struct side *a,
                         const struct side *b) {
    add_data(list, a, b);
    add_earlier(list, "data", a, b, false);
    add_earlier(list, "data", b, a, true);
}

static void add_environment(struct json **list, const struct side *a,
                            const struct side *b) {
    add_values(list, "", json_get(a->receipt, "environment"),
               json_get(b->receipt, "environment"));
}

/* ---- all of it ---- */

bool compare_causes(struct json *report, const struct side *a, const struct side *b) {
    static const struct {
        const char *name;
        void (*add)(struct json **list, const struct side *a, const struct side *b);
    } lists[] = {{"settings", add_settings},
                 {"plugins", add_all_plugins},
                 {"data", add_all_data},
                 {"environment", add_environment}};
    bool is_whole = true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct json *list = json_make_list();
        lists[i].add(&list, a, b);
        is_whole = json_put(report, lists[i].name, list) && is_whole;
    }
    return is_whole;
}
