/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "bundle/machine.h"
#include "bundle/pack_parts.h"

lathe_status pack_no_memory(struct error *err) {
    return fail(err, LATHE_ENOMEM, "no memory to pack");
}

/* ---- items ---- */

struct pack_item *pack_add(struct pack *pack, char *path) {
    struct pack_item *items =
        path ? grow(pack->items, pack->item_count, sizeof *items) : NULL;
    if (!items) {
        free(path);
        return NULL;
    }
    pack->items = items;
    items[pack->item_count] = (struct pack_item){.path = path, .fd = -1};
    return &items[pack->item_count++];
}

void pack_finish_item(struct pack_item *item) {
    if (item->fd >= 0) close(item->fd);
    text_finish(&item->text);
    json_close(item->used_by);
    free(item->source);
    free(item->path);
}

/* A file under /proc holds bytes, and its size is 0. */
static lathe_status check_size(struct pack_item *item, int fd, struct error *err) {
    char piece[1];
    const ssize_t behind = pread(fd, piece, 1, item->size);
    const ssize_t last = item->size ? pread(fd, piece, 1, item->size - 1) : 1;
    if (behind == 0 && last == 1) return LATHE_OK;
    fail(err, LATHE_EDATA,
         "\"%.300s\" does not hold as many bytes as its size says, %lld", item->source,
         (long long)item->size);
    error_help(err, "copy it to a regular file, and pack that");
    return LATHE_EDATA;
}

lathe_status pack_hash(struct pack_item *item, struct error *err) {
    int fd = -1;
    lathe_status status = file_open(item->source, &fd, &item->size, err);
    if (status) return status;
    if (fstat(fd, &item->as))
        status = fail(err, LATHE_EIO, "\"%.400s\" cannot be read", item->source);
    if (!status) status = check_size(item, fd, err);
    close(fd);
    return status ? status : digest_file(item->source, NULL, item->digest, err);
}

void pack_hash_text(struct pack_item *item) {
    item->size = (int64_t)item->text.length;
    digest_bytes(item->text.data ? item->text.data : "", item->text.length,
                 item->digest);
}

lathe_status pack_add_json(struct pack *pack, const char *path,
                           const struct json *value, struct error *err) {
    struct pack_item *item = pack_add(pack, text_copy(path));
    if (!item) return pack_no_memory(err);
    json_write(value, &item->text, 2);
    text_add(&item->text, "\n");
    if (item->text.is_broken) return pack_no_memory(err);
    pack_hash_text(item);
    return LATHE_OK;
}

static int compare_items(const void *a, const void *b) {
    return strcmp(((const struct pack_item *)a)->path,
                  ((const struct pack_item *)b)->path);
}

/* ---- bundle.json ---- */

static bool put_text(struct json *map, const char *key, const char *text) {
    return json_put(map, key, json_make_text(text));
}

static bool put_version(struct json *map, const char *key, unsigned major,
                        unsigned minor) {
    char text[32];
    snprintf(text, sizeof text, "%u.%u", major, minor);
    return put_text(map, key, text);
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The keys of a map, in byte order. */
static struct json *sort_keys(const struct json *map) {
    const size_t count = json_size(map);
    const char **keys = calloc(count + 1, sizeof *keys);
    struct json *list = json_make_list();
    bool is_done = keys && list;
    for (size_t i = 0; i < count && is_done; i++) keys[i] = json_key_at(map, i);
    if (is_done) qsort(keys, count, sizeof *keys, compare_texts);
    for (size_t i = 0; i < count && is_done; i++)
        is_done = json_push(list, json_make_text(keys[i]));
    free(keys);
    if (is_done) return list;
    json_close(list);
    return NULL;
}

static struct json *list_files(const struct pack *pack, bool is_outside) {
    struct json *list = json_make_list();
    for (size_t i = 0; i < pack->item_count && list; i++) {
        const struct pack_item *item = &pack->items[i];
        if (item->is_outside != is_outside) continue;
        struct json *map = json_make_map();
        const bool is_whole =
            map && put_text(map, "path", item->path) &&
            json_put(map, "size", json_make_whole(item->size)) &&
            put_text(map, "sha256", item->digest) &&
            (!item->used_by || json_put(map, "used_by", json_clone(item->used_by)));
        if (json_push(list, map) && is_whole) continue;
        json_close(list);
        list = NULL;
    }
    return list;
}

static bool put_all(struct pack *pack, struct json *root, struct json *abi) {
    char *machine = machine_name();
    bool is_whole = put_text(root, "format", BUNDLE_FORMAT) &&
                    put_text(root, "lathe", LATHE_VERSION) &&
                    put_text(root, "name", pack->experiment->name) &&
                    put_text(root, "experiment", BUNDLE_EXPERIMENT) &&
                    put_version(abi, "needs", 1, pack->abi_needs) &&
                    put_version(abi, "built", 1, pack->abi_built) &&
                    json_put(root, "abi", json_clone(abi)) && machine &&
                    put_text(root, "machine", machine) &&
                    put_version(root, "glibc", pack->glibc[0], pack->glibc[1]) &&
                    json_put(root, "libraries", sort_keys(pack->libraries)) &&
                    json_put(root, "plugins", json_clone(pack->plugins)) &&
                    json_put(root, "files", list_files(pack, false)) &&
                    json_put(root, "outside", list_files(pack, true));
    if (pack->checkpoint)
        is_whole = is_whole && put_text(root, "checkpoint", pack->checkpoint);
    free(machine);
    return is_whole;
}

/* What is said is read back as any reader will. */
static lathe_status write_json(struct pack *pack, struct error *err) {
    struct json *root = json_make_map(), *abi = json_make_map();
    qsort(pack->items, pack->item_count, sizeof *pack->items, compare_items);
    const bool is_whole = root && abi && put_all(pack, root, abi);
    if (is_whole) {
        json_write(root, &pack->json, 2);
        text_add(&pack->json, "\n");
    }
    json_close(root);
    json_close(abi);
    if (!is_whole || pack->json.is_broken) return pack_no_memory(err);
    return bundle_parse(pack->json.data, pack->json.length, "the bundle", &pack->bundle,
                        err);
}

/* ---- the whole ---- */

static lathe_status check_name(const struct pack *pack, struct error *err) {
    const size_t length = strlen(pack->experiment->name);
    if (length <= BUNDLE_LINE_MAX) return LATHE_OK;
    fail(err, LATHE_EINVAL, "the name has %zu bytes; a bundle's has at most %d", length,
         BUNDLE_LINE_MAX);
    error_where(err, "name");
    error_help(err, "give a shorter one as you pack: name=…");
    return LATHE_EINVAL;
}

static lathe_status gather(struct pack *pack, const struct pack_request *request,
                           struct error *err) {
    pack->plugins = json_make_list();
    pack->libraries = json_make_map();
    if (!pack->plugins || !pack->libraries) return pack_no_memory(err);
    lathe_status status = check_name(pack, err);
    if (!status) status = pack_take_plugins(pack, err);
    if (!status) status = pack_take_data(pack, request->data_limit, err);
    if (!status) status = pack_take_experiment(pack, err);
    if (!status && request->checkpoint)
        status = pack_take_checkpoint(pack, request->checkpoint, err);
    if (!status && request->run) status = pack_take_receipt(pack, request->run, err);
    return status ? status : write_json(pack, err);
}

lathe_status pack_create(const struct pack_request *request, struct pack **pack,
                         struct errors *errors) {
    struct error err = {0};
    struct pack *made = calloc(1, sizeof *made);
    if (!made) return pack_no_memory(errors_add(errors));
    made->kept = request->kept;
    lathe_status status =
        registry_open(request->plugin_paths, NULL, &made->registry, &err);
    if (!status) {
        status = experiment_open(request->source, request->overrides, made->registry,
                                 &made->experiment, errors);
        if (!status) status = gather(made, request, &err);
    }
    if (err.status) *errors_add(errors) = err;
    if (status)
        pack_destroy(made);
    else
        *pack = made;
    return status;
}

const struct bundle *pack_bundle(const struct pack *pack) {
    return &pack->bundle;
}

bool pack_drawn_seed(const struct pack *pack, uint64_t *seed) {
    *seed = pack->experiment->seed;
    return pack->experiment->is_seed_drawn;
}

const struct errors *pack_warnings(const struct pack *pack) {
    return &pack->warnings;
}

const char *pack_text(const struct pack *pack, size_t *count) {
    *count = pack->json.length;
    return pack->json.data;
}

void pack_destroy(struct pack *pack) {
    if (!pack) return;
    for (size_t i = 0; i < pack->item_count; i++) pack_finish_item(&pack->items[i]);
    free(pack->items);
    json_close(pack->sources);
    free(pack->twins);
    errors_finish(&pack->warnings);
    free(pack->checkpoint);
    json_close(pack->plugins);
    json_close(pack->libraries);
    bundle_finish(&pack->bundle);
    text_finish(&pack->json);
    experiment_close(pack->experiment);
    registry_close(pack->registry);
    free(pack);
}
