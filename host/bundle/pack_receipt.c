/* SPDX-License-Identifier: MIT */
/* What came of a run: its receipt, without the places where its data lay, and its
 * records. What is packed has to be what the run was made of. */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "bundle/pack_parts.h"
#include "receipt.h"

static lathe_status tell_changed(const char *what, const char *name,
                                 struct error *err) {
    fail(err, LATHE_EDATA, "%s is not what the run was made of, or not there", what);
    error_where(err, "%s", name);
    error_help(err, "put it back, or pack the run's resolved.json: that is an "
                    "experiment of which nothing has come yet");
    return LATHE_EDATA;
}

static lathe_status check_plugin(const struct pack *pack, const struct json *plugin,
                                 struct error *err) {
    const char *digest = json_text(json_get(plugin, "sha256"));
    const char *name = json_text(json_get(plugin, "name"));
    char *folder =
        text_make("plugins/%s/%s/", json_text(json_get(plugin, "kind")), name);
    if (!folder) return pack_no_memory(err);
    bool is_same = !*digest; /* linked into the program */
    for (size_t i = 0; i < pack->item_count && !is_same; i++)
        is_same = !strncmp(pack->items[i].path, folder, strlen(folder)) &&
                  !strcmp(pack->items[i].digest, digest);
    free(folder);
    return is_same ? LATHE_OK : tell_changed("a plugin", name, err);
}

/* What a setting names has to be what it named then, whatever other settings do. One
 * that names another place by now is known by the file's name; a file of another name
 * is not looked for: its dataset may have found it itself. */
static lathe_status check_data(const struct pack *pack, const struct json *file,
                               struct error *err) {
    const char *path = json_text(json_get(file, "path"));
    const char *digest = json_text(json_get(file, "sha256"));
    bool is_there = false, is_same = !*digest;
    for (struct json_member at = {0}; json_next(pack->sources, &at);) {
        char *shown = path_hide_home(at.key);
        if (!shown) return pack_no_memory(err);
        const bool is_it = !strcmp(shown, path);
        const bool is_alike = is_it || !strcmp(path_name(shown), path_name(path));
        const bool is_equal = !*digest || !strcmp(json_text(at.value), digest);
        free(shown);
        if (is_it && !is_equal) return tell_changed("data", path, err);
        is_there |= is_alike;
        is_same |= is_alike && is_equal;
    }
    return is_same || !is_there ? LATHE_OK : tell_changed("data", path, err);
}

/* Of a receipt, or of a part of its "earlier". */
static lathe_status check_parts(const struct pack *pack, const struct json *map,
                                struct error *err) {
    const struct json *plugins = json_get(map, "plugins");
    const struct json *data = json_get(map, "data");
    lathe_status status = LATHE_OK;
    for (size_t i = 0; i < json_size(plugins) && !status; i++)
        status = check_plugin(pack, json_at(plugins, i), err);
    for (size_t i = 0; i < json_size(data) && !status; i++)
        status = check_data(pack, json_at(data, i), err);
    return status;
}

static lathe_status check_experiment(const char *run, const struct json *receipt,
                                     struct error *err) {
    char *path = path_join(run, "resolved.json"), hex[DIGEST_HEX] = "";
    struct json *resolved = NULL;
    lathe_status status = path ? json_read(path, &resolved, err) : pack_no_memory(err);
    if (!status) status = receipt_digest(resolved, hex, err);
    if (!status && strcmp(hex, json_text(json_get(receipt, "experiment"))))
        status = tell_changed("the experiment", path, err);
    json_close(resolved);
    free(path);
    return status;
}

static lathe_status check(const struct pack *pack, const char *run,
                          const struct json *receipt, struct error *err) {
    const struct json *earlier = json_get(receipt, RECEIPT_EARLIER);
    struct json *records = NULL;
    lathe_status status = check_experiment(run, receipt, err);
    if (!status) status = check_parts(pack, receipt, err);
    for (size_t i = 0; i < json_size(earlier) && !status; i++)
        status = check_parts(pack, json_at(earlier, i), err);
    if (!status) status = receipt_metrics(run, &records, err);
    if (!status && !json_same(records, json_get(receipt, "metrics")))
        status = tell_changed("metrics.jsonl", run, err);
    json_close(records);
    return status;
}

/* A path may have a user's name in it. */
static bool cut_paths(const struct json *map) {
    const struct json *data = json_get(map, "data");
    const struct json *earlier = json_get(map, RECEIPT_EARLIER);
    bool is_done = true;
    for (size_t i = 0; i < json_size(data) && is_done; i++) {
        struct json *file = json_at(data, i);
        const char *path = json_text(json_get(file, "path"));
        char *name = text_copy(path_name(path));
        is_done = name && json_put(file, "path", json_make_text(name));
        free(name);
    }
    for (size_t i = 0; i < json_size(earlier) && is_done; i++)
        is_done = cut_paths(json_at(earlier, i));
    return is_done;
}

/* What is packed has other paths than what ran, so its digest is another one. */
static bool put_experiment(const struct pack *pack, struct json *receipt) {
    for (size_t i = 0; i < pack->item_count; i++)
        if (!strcmp(pack->items[i].path, BUNDLE_EXPERIMENT))
            return json_put(receipt, RECEIPT_PACKED,
                            json_make_text(pack->items[i].digest));
    return false;
}

static lathe_status take_records(struct pack *pack, const char *run,
                                 struct error *err) {
    struct pack_item *item = pack_add(pack, text_copy(BUNDLE_RECORDS));
    if (!item) return pack_no_memory(err);
    item->source = path_join(run, BUNDLE_RECORDS);
    return item->source ? pack_hash(item, err) : pack_no_memory(err);
}

lathe_status pack_take_receipt(struct pack *pack, const char *run, struct error *err) {
    struct json *receipt = NULL;
    struct error fault = {0};
    lathe_status status = receipt_read(run, &receipt, &fault);
    if (status == LATHE_ENOTFOUND) return LATHE_OK; /* it has not ended */
    if (status)
        *err = fault;
    else
        status = check(pack, run, receipt, err);
    if (!status && (!cut_paths(receipt) || !put_experiment(pack, receipt)))
        status = pack_no_memory(err);
    if (!status) status = pack_add_json(pack, BUNDLE_RECEIPT, receipt, err);
    if (!status) status = take_records(pack, run, err);
    json_close(receipt);
    return status;
}
