/* SPDX-License-Identifier: MIT */
#include "registry_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/trust.h"
#include "dylib.h"
#include "store.h"

#define MANIFEST "plugin.json"
#define LIBRARY ".so" /* how its name ends */
#define DEPTH_MAX 2   /* folders below a place */

size_t registry_count(const struct registry *registry) {
    return registry->entry_count;
}

const struct registry_entry *registry_at(const struct registry *registry,
                                         size_t index) {
    return &registry->entries[index];
}

const struct registry_place *registry_place_at(const struct registry *registry,
                                               size_t index) {
    return index < registry->place_count ? &registry->places[index] : NULL;
}

/* ---- entries ---- */

static lathe_status add_entry(struct registry *registry, const char *path,
                              struct registry_entry **entry, struct error *err) {
    struct registry_entry *entries =
        grow(registry->entries, registry->entry_count, sizeof *entries);
    if (entries) registry->entries = entries;
    char *copy = entries ? text_copy(path) : NULL;
    if (!copy) return fail(err, LATHE_ENOMEM, "out of memory");
    *entry = &entries[registry->entry_count++];
    **entry = (struct registry_entry){.path = copy};
    return LATHE_OK;
}

/* Was its library refused for what it did when it was first loaded? */
static lathe_status recall(const struct registry *registry,
                           struct registry_entry *entry) {
    char digest[DIGEST_HEX];
    const char *path = entry->manifest->library_path;
    if (!registry->is_wary || entry->manifest->linked ||
        digest_file(path, NULL, digest, NULL) != LATHE_OK ||
        store_recall(digest, &entry->reason) != STORE_REFUSED)
        return LATHE_OK;
    error_where(&entry->reason, "%s", path);
    return LATHE_EMISSING;
}

/* Looks for an earlier one of the same kind and name before this one counts. */
static void judge(const struct registry *registry, struct registry_entry *entry,
                  lathe_status status) {
    const struct manifest *manifest = entry->manifest;
    const struct registry_entry *earlier = NULL;
    entry->status = REGISTRY_REFUSED;
    if (status == LATHE_OK) status = recall(registry, entry);
    if (status == LATHE_OK)
        earlier =
            registry_entry_of(registry, REGISTRY_OK, manifest->kind, manifest->name);
    if (earlier) {
        entry->status = REGISTRY_SHADOWED;
        fail(&entry->reason, LATHE_EMISSING, "%s/%s of \"%s\" comes first",
             manifest_kind_name(manifest->kind), manifest->name, earlier->path);
        error_where(&entry->reason, "%s", entry->path);
    } else if (status == LATHE_OK) {
        entry->status = REGISTRY_OK;
    }
}

static lathe_status add_refused(struct registry *registry, const char *path,
                                const struct error *reason, struct error *err) {
    struct registry_entry *entry = NULL;
    lathe_status status = add_entry(registry, path, &entry, err);
    if (status != LATHE_OK) return status;
    entry->status = REGISTRY_REFUSED;
    entry->reason = *reason;
    if (entry->reason.where[0] == '\0') error_where(&entry->reason, "%s", path);
    return LATHE_OK;
}

/* `distrust`: why nothing in this folder is believed, or NULL. */
static lathe_status add_manifest(struct registry *registry, const char *folder,
                                 const struct error *distrust, struct error *err) {
    struct registry_entry *entry = NULL;
    char *path = path_join(folder, MANIFEST);
    if (!path) return fail(err, LATHE_ENOMEM, "out of memory");
    lathe_status status = add_entry(registry, path, &entry, err);
    if (status == LATHE_OK) {
        lathe_status found =
            manifest_read(path, registry->format, &entry->manifest, &entry->reason);
        if (found == LATHE_OK)
            found = manifest_check_library(entry->manifest, registry->format,
                                           &entry->reason);
        if (found == LATHE_OK && distrust) {
            entry->reason = *distrust;
            error_where(&entry->reason, "%s", path);
            found = distrust->status;
        }
        judge(registry, entry, found);
    }
    free(path);
    return status;
}

/* A library without a plugin.json that names it. One that carries no manifest is worth
 * a word, but not in a plugin's own folder, where anything may lie. */
static lathe_status add_alone(struct registry *registry, const char *path,
                              bool is_in_plugin, const struct error *distrust,
                              struct error *err) {
    struct manifest *manifest = NULL;
    struct registry_entry *entry = NULL;
    struct error reason = {0};
    lathe_status found =
        manifest_from_library(path, registry->format, &manifest, &reason);
    if (found != LATHE_OK && is_in_plugin && (!manifest || !manifest->root)) {
        manifest_close(manifest);
        return found == LATHE_ENOMEM ? fail(err, found, "%s", reason.what) : LATHE_OK;
    }
    lathe_status status = add_entry(registry, path, &entry, err);
    if (status != LATHE_OK) {
        manifest_close(manifest);
        return status;
    }
    if (found == LATHE_OK && distrust) {
        reason = *distrust;
        error_where(&reason, "%s", path);
        found = distrust->status;
    }
    entry->manifest = manifest;
    entry->reason = reason;
    judge(registry, entry, found);
    return LATHE_OK;
}

static lathe_status add_linked(struct registry *registry,
                               const lathe_linked_plugin *linked, struct error *err) {
    struct registry_entry *entry = NULL;
    lathe_status status = add_entry(registry, "(linked)", &entry, err);
    if (status != LATHE_OK) return status;
    judge(registry, entry,
          manifest_from_linked(linked, registry->format, &entry->manifest,
                               &entry->reason));
    return LATHE_OK;
}

/* ---- folders ---- */

static lathe_status scan_folder(struct registry *registry, const char *folder,
                                int depth, const struct error *distrust,
                                struct error *err);

/* An entry of a folder. What cannot be looked into is worth a word, but for things in a
 * plugin's own folder, where anything may lie. */
static lathe_status scan_entry(struct registry *registry, const char *path, int depth,
                               bool is_in_plugin, const struct error *distrust,
                               struct error *err) {
    struct stat info;
    struct error reason = {0};
    if (stat(path, &info) == 0) {
        if (!S_ISDIR(info.st_mode) && text_ends_with(path, LIBRARY))
            return add_alone(registry, path, is_in_plugin, distrust, err);
        if (!S_ISDIR(info.st_mode)) return LATHE_OK;
        if (depth > DEPTH_MAX) return LATHE_OK;
        lathe_status status = scan_folder(registry, path, depth, distrust, &reason);
        if (status == LATHE_OK) return LATHE_OK;
        if (status == LATHE_ENOMEM) return fail(err, LATHE_ENOMEM, "%s", reason.what);
    } else {
        fail(&reason, error_from_errno(errno), "%s",
             errno == ENOENT  ? "the link leads nowhere"
             : errno == ELOOP ? "the link leads in a circle"
                              : strerror(errno));
    }
    return is_in_plugin ? LATHE_OK : add_refused(registry, path, &reason, err);
}

/* The manifest, libraries, and what may be a folder. */
static int is_candidate(const struct dirent *item) {
    if (strcmp(item->d_name, MANIFEST) == 0) return 1;
    return item->d_name[0] != '.' &&
           (text_ends_with(item->d_name, LIBRARY) || item->d_type == DT_DIR ||
            item->d_type == DT_LNK || item->d_type == DT_UNKNOWN);
}

/* That the manifest added last names; "" when it names none. */
static const char *library_of_last(const struct registry *registry) {
    const struct manifest *manifest =
        registry->entries[registry->entry_count - 1].manifest;
    return manifest ? manifest->library : "";
}

static lathe_status scan_items(struct registry *registry, const char *folder, int depth,
                               struct dirent **items, int count,
                               const struct error *distrust, struct error *err) {
    lathe_status status = LATHE_OK;
    bool has_manifest = false;
    for (int i = 0; i < count; i++)
        if (strcmp(items[i]->d_name, MANIFEST) == 0) has_manifest = true;
    if (has_manifest) status = add_manifest(registry, folder, distrust, err);
    const char *own =
        has_manifest && status == LATHE_OK ? library_of_last(registry) : "";
    for (int i = 0; status == LATHE_OK && i < count; i++) {
        const char *name = items[i]->d_name;
        if (strcmp(name, MANIFEST) == 0 || strcmp(name, own) == 0) continue;
        char *path = path_join(folder, name);
        status =
            path ? scan_entry(registry, path, depth + 1, has_manifest, distrust, err)
                 : fail(err, LATHE_ENOMEM, "out of memory");
        free(path);
    }
    return status;
}

static lathe_status scan_folder(struct registry *registry, const char *folder,
                                int depth, const struct error *distrust,
                                struct error *err) {
    struct dirent **items = NULL;
    struct error own;
    int count = scandir(folder, &items, is_candidate, file_compare_entries);
    if (count < 0)
        return fail(err, error_from_errno(errno), "the folder cannot be read: %s",
                    strerror(errno));
    if (!distrust && trust_check_folder(folder, &own) != LATHE_OK) distrust = &own;
    lathe_status status =
        scan_items(registry, folder, depth, items, count, distrust, err);
    for (int i = 0; i < count; i++) free(items[i]);
    free(items);
    return status;
}

/* ---- places ---- */

/* The same directory may be named twice; once is enough. */
static bool was_searched(const struct registry *registry, const struct stat *info) {
    struct stat other;
    for (size_t i = 0; i + 1 < registry->place_count; i++)
        if (registry->places[i].problem.status == LATHE_OK &&
            stat(registry->places[i].path, &other) == 0 && file_is_same(&other, info))
            return true;
    return false;
}

/* Takes `path` over; NULL: path_absolute gave none. */
static lathe_status scan_place(struct registry *registry, const char *origin,
                               char *path, struct error *err) {
    struct registry_place *places =
        grow(registry->places, registry->place_count, sizeof *places);
    if (places) registry->places = places;
    if (!places || !path) {
        free(path);
        return path_fail(err);
    }
    struct registry_place *place = &places[registry->place_count++];
    struct stat info;
    *place = (struct registry_place){.origin = origin, .path = path};
    if (stat(path, &info) == 0 && was_searched(registry, &info)) return LATHE_OK;
    lathe_status status = scan_folder(registry, path, 0, NULL, &place->problem);
    if (status != LATHE_OK) error_where(&place->problem, "%s: %s", origin, path);
    if (status != LATHE_ENOMEM) return LATHE_OK;
    if (err) *err = place->problem;
    return LATHE_ENOMEM;
}

static lathe_status scan_given(struct registry *registry, const char *const *paths,
                               struct error *err) {
    for (size_t i = 0; paths && paths[i]; i++) {
        lathe_status status =
            scan_place(registry, "--plugin-path", path_absolute(paths[i]), err);
        if (status != LATHE_OK) return status;
        const struct error *problem =
            &registry->places[registry->place_count - 1].problem;
        if (problem->status == LATHE_OK) continue;
        if (err) *err = *problem;
        return problem->status;
    }
    return LATHE_OK;
}

/* An empty element is nothing, and never the current directory. */
static lathe_status scan_environment(struct registry *registry, struct error *err) {
    static const char variable[] = "LATHE_PLUGIN_PATH";
    const char *value = secure_getenv(variable);
    if (!value && getenv(variable)) {
        lathe_status status = scan_place(registry, variable, text_copy(""), err);
        if (status != LATHE_OK) return status;
        struct error *problem = &registry->places[registry->place_count - 1].problem;
        fail(problem, LATHE_EPERM,
             "%s is ignored: the program runs with raised privileges", variable);
        return LATHE_OK;
    }
    char *list = text_copy(value ? value : ""), *rest = list;
    lathe_status status = list ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
    for (char *path; status == LATHE_OK && (path = strsep(&rest, ":")) != NULL;)
        if (path[0] != '\0')
            status = scan_place(registry, variable, path_absolute(path), err);
    free(list);
    return status;
}

static lathe_status scan_standard(struct registry *registry, struct error *err) {
    lathe_status status = LATHE_OK;
    const char *home = secure_getenv("HOME");
    if (home && home[0] == '/')
        status = scan_place(registry, "user",
                            path_join(home, ".local/lib/lathe/plugins"), err);
    if (status == LATHE_OK)
        status = scan_place(registry, "system",
                            text_copy(LATHE_LIBDIR "/lathe/plugins"), err);
    char *program = status == LATHE_OK ? path_of_program() : NULL;
    char *parent = program ? path_directory(program) : NULL;
    if (parent) /* an installed tree that was moved */
        status =
            scan_place(registry, "system",
                       path_join(parent, LATHE_MOVED_LIBDIR "/lathe/plugins"), err);
    if (parent && status == LATHE_OK)
        status =
            scan_place(registry, "build", path_join(parent, LATHE_BUILD_PLUGINS), err);
    free(parent);
    free(program);
    return status;
}

lathe_status registry_open(const char *const *paths,
                           const lathe_linked_plugin *const *linked,
                           struct registry **registry, struct error *err) {
    struct registry *opened = calloc(1, sizeof *opened);
    if (!opened) return fail(err, LATHE_ENOMEM, "out of memory");
    opened->is_wary = store_has_refused();
    lathe_status status = manifest_format(&opened->format, err);
    for (size_t i = 0; status == LATHE_OK && linked && linked[i]; i++)
        status = add_linked(opened, linked[i], err);
    if (status == LATHE_OK) status = scan_given(opened, paths, err);
    if (status == LATHE_OK) status = scan_environment(opened, err);
    if (status == LATHE_OK) status = scan_standard(opened, err);
    if (status == LATHE_OK)
        *registry = opened;
    else
        registry_close(opened);
    return status;
}

void registry_close(struct registry *registry) {
    if (!registry) return;
    for (size_t i = 0; i < registry->entry_count; i++) {
        manifest_close(registry->entries[i].manifest);
        free(registry->entries[i].path);
    }
    for (size_t i = 0; i < registry->place_count; i++) free(registry->places[i].path);
    free(registry->entries);
    free(registry->places);
    json_close(registry->format);
    free(registry);
}
