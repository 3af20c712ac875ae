/* SPDX-License-Identifier: MIT */
/* The files that an experiment names, and the experiment that names them by where they
 * are in the bundle. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "archive_tar.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/path.h"
#include "bundle/pack_parts.h"
#include "bundle/uses.h"

struct gathering {
    struct pack *pack;
    int64_t limit;
    struct error *err;
};

/* ---- names ---- */

/* The file's own name, with '-' for letters that a bundle does not take; the
 * caller's. */
static char *plain_name(const char *source) {
    char *name = text_copy(path_name(source));
    for (char *c = name; c && *c; c++) {
        const bool is_letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                               (*c >= '0' && *c <= '9') || *c == '_' || *c == '-';
        if (!is_letter && (*c != '.' || c == name)) *c = '-';
    }
    if (name && strlen(name) > ARCHIVE_PART_MAX - 8) name[ARCHIVE_PART_MAX - 8] = '\0';
    return name;
}

static bool is_free(const struct pack *pack, const char *path) {
    for (size_t i = 0; i < pack->item_count; i++)
        if (!strcasecmp(pack->items[i].path, path)) return false;
    return true;
}

/* data/NAME, or data/2-NAME where another file has that; the caller's. */
static char *choose_path(const struct pack *pack, const char *source) {
    char *name = plain_name(source);
    char *path = name ? text_make("data/%s", name) : NULL;
    for (int i = 2; path && !is_free(pack, path); i++) {
        free(path);
        path = text_make("data/%d-%s", i, name);
    }
    free(name);
    return path;
}

/* ---- files ---- */

/* A file that is packed already, perhaps under another path. */
static struct pack_item *find_source(const struct pack *pack, const char *source) {
    struct stat info;
    if (stat(source, &info)) return NULL;
    for (size_t i = 0; i < pack->item_count; i++) {
        struct pack_item *item = &pack->items[i];
        if (item->used_by && file_is_same(&item->as, &info)) return item;
    }
    return NULL;
}

/* A copy of a file is as good as a link to it; NULL: there is none. */
static struct pack_item *find_copy(const struct pack *pack,
                                   const struct pack_item *like) {
    for (size_t i = 0; i < pack->item_count; i++) {
        struct pack_item *item = &pack->items[i];
        if (item != like && item->used_by && !strcmp(item->original, like->original))
            return item;
    }
    return NULL;
}

/* Removes the last item; what its file is stays known. */
static lathe_status drop_last(struct gathering *g) {
    struct pack *pack = g->pack;
    struct stat *twins = grow(pack->twins, pack->twin_count, sizeof *twins);
    if (!twins) return pack_no_memory(g->err);
    pack->twins = twins;
    twins[pack->twin_count++] = pack->items[pack->item_count - 1].as;
    pack_finish_item(&pack->items[--pack->item_count]);
    return LATHE_OK;
}

static lathe_status take_source(struct gathering *g, const char *source,
                                struct pack_item **taken) {
    struct pack_item *item = pack_add(g->pack, choose_path(g->pack, source));
    if (!item) return pack_no_memory(g->err);
    item->source = text_copy(source);
    item->used_by = json_make_list();
    if (!item->source || !item->used_by) return pack_no_memory(g->err);
    lathe_status status = pack_hash(item, g->err);
    if (status) return status;
    memcpy(item->original, item->digest, sizeof item->original);
    *taken = find_copy(g->pack, item);
    if (*taken) return drop_last(g);
    *taken = item;
    item->is_outside = item->size > g->limit;
    return item->is_outside ? LATHE_OK : pack_cut_checkpoint(item, g->err);
}

/* Replaces `value`, an absolute path, by the path in the bundle. */
static lathe_status take_path(void *context, const char *setting, struct json *value) {
    struct gathering *g = context;
    struct pack_item *item = find_source(g->pack, json_text(value));
    lathe_status status = LATHE_OK;
    if (!item) status = take_source(g, json_text(value), &item);
    if (status) {
        error_where(g->err, "%s", setting);
        return status;
    }
    const bool is_done =
        json_put(g->pack->sources, json_text(value), json_make_text(item->original)) &&
        json_set_text(value, item->path) &&
        json_push(item->used_by, json_make_text(setting));
    return is_done ? LATHE_OK : pack_no_memory(g->err);
}

lathe_status pack_take_data(struct pack *pack, int64_t limit, struct error *err) {
    struct gathering gathering = {pack, limit, err};
    pack->sources = json_make_map();
    if (!pack->sources) return pack_no_memory(err);
    lathe_status status = uses_each_path(pack->experiment, &gathering, take_path);
    return status && !err->status ? pack_no_memory(err) : status;
}

/* ---- the experiment ---- */

/* Leaves out what a run has noted of its machine. */
static struct json *without_notes(const struct json *whole) {
    static const char *const notes[] = {"origin", "plugin_path", "run", "$schema"};
    struct json *rest = json_make_map();
    for (size_t i = 0; rest && i < json_size(whole); i++) {
        bool is_note = false;
        for (size_t k = 0; k < sizeof notes / sizeof *notes; k++)
            is_note = is_note || !strcmp(json_key_at(whole, i), notes[k]);
        if (is_note ||
            json_put(rest, json_key_at(whole, i), json_clone(json_at(whole, i))))
            continue;
        json_close(rest);
        rest = NULL;
    }
    return rest;
}

/* A path of this machine is of no use elsewhere, and may tell a user's name. */
static lathe_status check_texts(const struct json *value, const char *path,
                                struct error *err) {
    lathe_status status = LATHE_OK;
    if (json_text(value)[0] == '/') {
        fail(err, LATHE_EINVAL, "\"%.300s\" is a path of this machine",
             json_text(value));
        error_where(err, "%s", path);
        error_help(err, "give another as you pack: %s=…", path);
        return LATHE_EINVAL;
    }
    for (size_t i = 0; i < json_size(value) && !status; i++) {
        const char *dot = *path ? "." : "";
        char *inner = json_kind(value) == JSON_MAP
                          ? text_make("%s%s%s", path, dot, json_key_at(value, i))
                          : text_make("%s%s%zu", path, dot, i);
        status =
            inner ? check_texts(json_at(value, i), inner, err) : pack_no_memory(err);
        free(inner);
    }
    return status;
}

lathe_status pack_take_experiment(struct pack *pack, struct error *err) {
    struct json *whole = experiment_whole(pack->experiment);
    struct json *rest = whole ? without_notes(whole) : NULL;
    lathe_status status = rest ? LATHE_OK : pack_no_memory(err);
    if (!status) status = check_texts(rest, "", err);
    if (!status) status = pack_add_json(pack, BUNDLE_EXPERIMENT, rest, err);
    json_close(rest);
    json_close(whole);
    return status;
}
