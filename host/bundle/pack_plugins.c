/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "archive_tar.h"
#include "base/file.h"
#include "base/path.h"
#include "bundle/pack_parts.h"
#include "bundle/uses.h"
#include "facts.h"

#define LICENCE_MAX ((size_t)1 << 20)

/* ---- one plugin ---- */

struct gathering {
    struct pack *pack;
    struct error *err;
};

/* plugins/<kind>/<name>/<file> */
static char *path_for(const struct manifest *manifest, const char *file) {
    return text_make("plugins/%s/%s/%s", manifest_kind_name(manifest->kind),
                     manifest->name, file);
}

static bool is_taken(const struct pack *pack, const char *path) {
    for (size_t i = 0; i < pack->item_count; i++)
        if (!strcmp(pack->items[i].path, path)) return true;
    return false;
}

static lathe_status add_file(struct pack *pack, const struct manifest *manifest,
                             const char *source, struct error *err) {
    struct pack_item *item = pack_add(pack, path_for(manifest, path_name(source)));
    if (!item || !(item->source = text_copy(source))) return pack_no_memory(err);
    lathe_status status = archive_check_name(item->path, err);
    if (!status) return pack_hash(item, err);
    error_help(err, "give the file another name");
    return status;
}

static void take_abi(struct pack *pack, const struct facts *facts) {
    if (facts->needs > pack->abi_needs) pack->abi_needs = facts->needs;
    if (facts->built > pack->abi_built) pack->abi_built = facts->built;
    if (facts->glibc[0] > pack->glibc[0] ||
        (facts->glibc[0] == pack->glibc[0] && facts->glibc[1] > pack->glibc[1]))
        memcpy(pack->glibc, facts->glibc, sizeof pack->glibc);
}

static lathe_status add_library(struct pack *pack, const struct manifest *manifest,
                                struct error *err) {
    struct facts facts;
    const char *path = manifest->library_path;
    lathe_status status = facts_read(path, &facts, err);
    if (status ? status != LATHE_ENOMEM : !facts.has_entry)
        status = fail(err, LATHE_EMISSING, "\"%.400s\" is no plugin of ABI 1", path);
    for (const char **needed = facts.object.needed; !status && needed && *needed;
         needed++)
        if (!json_put(pack->libraries, *needed, json_make_truth(true)))
            status = pack_no_memory(err);
    if (!status) {
        take_abi(pack, &facts);
        status = add_file(pack, manifest, path, err);
    }
    facts_finish(&facts);
    return status;
}

/* The text of the manifest, as plugin.json beside the library: also one that the
 * library carries, if it names this file. */
static lathe_status add_manifest(struct pack *pack, const struct manifest *manifest,
                                 struct error *err) {
    const char *named = json_text(json_get(manifest->root, "library"));
    if (!manifest->text || strcmp(named, path_name(manifest->library_path)))
        return LATHE_OK;
    struct pack_item *item = pack_add(pack, path_for(manifest, "plugin.json"));
    if (!item) return pack_no_memory(err);
    text_add_bytes(&item->text, manifest->text, manifest->text_length);
    if (item->text.is_broken) return pack_no_memory(err);
    pack_hash_text(item);
    return LATHE_OK;
}

/* LICENSE, LICENSE-MIT, COPYING.LESSER, notice.txt; but neither an editor's copy
 * ("LICENSE~") nor a file of another kind (license.key). */
static int is_licence(const struct dirent *entry) {
    static const char *const words[] = {"license", "licence", "copying", "copyright",
                                        "notice"};
    static const char *const ends[] = {"", ".txt", ".md", ".lesser", ".lib"};
    const char *name = entry->d_name;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strncasecmp(name, words[i], strlen(words[i])) != 0) continue;
        const char *rest = name + strlen(words[i]);
        while (isalnum((unsigned char)*rest) || *rest == '-' || *rest == '_') rest++;
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            if (!strcasecmp(rest, ends[k])) return 1;
    }
    return 0;
}

/* Whoever has the bundle would have the key. */
static bool holds_key(const char *text) {
    return strstr(text, "PRIVATE KEY-----") || strstr(text, "encrypted secret key");
}

static lathe_status add_licence(struct pack *pack, const struct manifest *manifest,
                                const char *path, struct error *err) {
    char *text = NULL;
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return LATHE_OK;
    lathe_status status = file_read(path, LICENCE_MAX, &text, NULL, err);
    if (!status && holds_key(text))
        status = fail(err, LATHE_EDATA,
                      "\"%.400s\" is no licence: it holds a secret key", path);
    free(text);
    if (!status) return add_file(pack, manifest, path, err);
    if (status != LATHE_ENOMEM) status = err->status = LATHE_EDATA;
    error_where(err, "licences of %s/%s", manifest_kind_name(manifest->kind),
                manifest->name);
    if (!err->help[0])
        error_help(err, "a licence beside a plugin goes with it: give what is none "
                        "another name");
    return status;
}

static lathe_status add_licences(struct pack *pack, const struct manifest *manifest,
                                 struct error *err) {
    struct dirent **entries = NULL;
    char *folder = path_directory(manifest->library_path);
    const int count =
        folder ? scandir(folder, &entries, is_licence, file_compare_entries) : 0;
    lathe_status status = folder ? LATHE_OK : pack_no_memory(err);
    for (int i = 0; i < count; i++) {
        char *path = status ? NULL : path_join(folder, entries[i]->d_name);
        if (path && strcmp(path, manifest->library_path) != 0)
            status = add_licence(pack, manifest, path, err);
        free(path);
        free(entries[i]);
    }
    free(entries);
    free(folder);
    return status;
}

static lathe_status note_plugin(struct pack *pack, const struct manifest *manifest,
                                const char *library, struct error *err) {
    struct json *map = json_make_map();
    const char *kind = manifest_kind_name(manifest->kind);
    const bool is_whole = map && json_put(map, "kind", json_make_text(kind)) &&
                          json_put(map, "name", json_make_text(manifest->name)) &&
                          json_put(map, "version", json_make_text(manifest->version)) &&
                          json_put(map, "license", json_make_text(manifest->license)) &&
                          json_put(map, "library", json_make_text(library));
    if (json_push(pack->plugins, map) && is_whole) return LATHE_OK;
    return pack_no_memory(err);
}

static lathe_status take_plugin(void *context, const char *stage,
                                const struct use *use) {
    struct gathering *g = context;
    const struct manifest *manifest = use->manifest;
    (void)stage;
    if (manifest->linked)
        return fail(g->err, LATHE_EMISSING,
                    "%s %s is linked into the program, and cannot be packed",
                    manifest_kind_name(manifest->kind), manifest->name);
    char *library = path_for(manifest, path_name(manifest->library_path));
    lathe_status status = library ? LATHE_OK : pack_no_memory(g->err);
    if (!status && !is_taken(g->pack, library)) {
        status = add_library(g->pack, manifest, g->err);
        if (!status) status = add_manifest(g->pack, manifest, g->err);
        if (!status) status = add_licences(g->pack, manifest, g->err);
        if (!status) status = note_plugin(g->pack, manifest, library, g->err);
        struct error warning;
        if (registry_warning(g->pack->registry, manifest, &warning))
            *errors_add(&g->pack->warnings) = warning;
    }
    free(library);
    return status;
}

lathe_status pack_take_plugins(struct pack *pack, struct error *err) {
    struct gathering gathering = {pack, err};
    return uses_each(pack->experiment, &gathering, take_plugin);
}
