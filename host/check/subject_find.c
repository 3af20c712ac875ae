/* SPDX-License-Identifier: MIT */
/* Which plugin is meant: a folder, a manifest or a library, or an installed one by its
 * name. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/nearest.h"
#include "base/path.h"
#include "check/subject.h"
#include "registry.h"

/* ---- by name ---- */

/* "optimizer/sgd": the kind, and *name after it; else NONE, and all of the word. */
static uint32_t split_kind(const char *word, const char **name) {
    for (uint32_t kind = LATHE_KIND_NONE + 1; kind <= LATHE_KIND_COMM; kind++) {
        const size_t length = strlen(manifest_kind_name(kind));
        if (strncmp(word, manifest_kind_name(kind), length) != 0 || word[length] != '/')
            continue;
        *name = word + length + 1;
        return kind;
    }
    *name = word;
    return LATHE_KIND_NONE;
}

static lathe_status refuse_name(const struct registry *registry, uint32_t kind,
                                const char *word, const char *name, struct error *err) {
    struct nearest nearest;
    nearest_begin(&nearest, name);
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct manifest *m = registry_at(registry, i)->manifest;
        if (m && m->name && (!kind || m->kind == kind))
            nearest_offer(&nearest, m->name);
    }
    fail(err, LATHE_ENOTFOUND, "%s: %s, and no plugin of that name", word,
         strerror(ENOENT));
    if (nearest.best)
        error_help(err, "did you mean \"%s\"?", nearest.best);
    else
        error_help(err, "\"lathe plugins\" lists those that are installed");
    return err->status;
}

/* The file that an installed plugin was found by; the caller's. */
static lathe_status find_named(const char *word, const char *const *places, char **path,
                               struct error *err) {
    const char *name;
    const uint32_t kind = split_kind(word, &name);
    struct registry *registry = NULL;
    const struct registry_entry *found = NULL;
    lathe_status status = registry_open(places, NULL, &registry, err);
    for (size_t i = 0; status == LATHE_OK && i < registry_count(registry); i++) {
        const struct registry_entry *entry = registry_at(registry, i);
        const struct manifest *m = entry->manifest;
        if (entry->status != REGISTRY_OK || strcmp(m->name, name) != 0 ||
            (kind && m->kind != kind))
            continue;
        if (found) {
            status = fail(err, LATHE_EINVAL, "\"%s\" is the name of two plugins", name);
            error_where(err, "command line of \"check\"");
            error_help(err, "write %s/%s or %s/%s",
                       manifest_kind_name(found->manifest->kind), name,
                       manifest_kind_name(m->kind), name);
        }
        found = entry;
    }
    if (status == LATHE_OK && !found)
        status = refuse_name(registry, kind, word, name, err);
    if (status == LATHE_OK && !(*path = text_copy(found->path)))
        status = fail(err, LATHE_ENOMEM, "out of memory");
    registry_close(registry);
    return status;
}

/* ---- by its file ---- */

/* The library in a folder without plugin.json, where there is one alone; the
 * caller's. */
static char *find_library(const char *folder) {
    char *found = NULL;
    int count = 0;
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        if (entry->d_name[0] == '.' || !text_ends_with(entry->d_name, ".so")) continue;
        free(found);
        found = path_join(folder, entry->d_name);
        count++;
    }
    if (entries) closedir(entries);
    if (count == 1) return found;
    free(found);
    return NULL;
}

/* The manifest or library that is meant; the caller's. */
static lathe_status choose_file(const char *word, const char *const *places,
                                char **path, struct error *err) {
    struct stat info;
    *path = NULL;
    if (stat(word, &info) != 0) {
        const int reason = errno;
        if (reason == ENOENT) return find_named(word, places, path, err);
        return fail(err, error_from_errno(reason), "%s: %s", word, strerror(reason));
    }
    char *absolute = path_absolute(word);
    if (!absolute) return fail(err, LATHE_ENOMEM, "out of memory");
    if (!S_ISDIR(info.st_mode)) {
        *path = absolute;
        return LATHE_OK;
    }
    *path = path_join(absolute, "plugin.json");
    if (*path && stat(*path, &info) != 0) {
        free(*path);
        *path = find_library(absolute);
        if (!*path) {
            fail(err, LATHE_ENOTFOUND,
                 "there is no plugin in %s: neither plugin.json nor one library alone",
                 word);
            error_help(err,
                       "name the folder of one plugin, its plugin.json or its .so");
        }
    }
    free(absolute);
    return *path ? LATHE_OK : err->status;
}

/* A library with its manifest beside it is checked by that. */
static char *manifest_beside(const char *library, const struct json *format) {
    char *folder = path_directory(library);
    char *path = folder ? path_join(folder, "plugin.json") : NULL;
    struct manifest *manifest = NULL;
    struct error err = {0};
    const bool is_its = path &&
                        manifest_read(path, format, &manifest, &err) == LATHE_OK &&
                        !strcmp(manifest->library, path_name(library));
    manifest_close(manifest);
    free(folder);
    if (is_its) return path;
    free(path);
    return NULL;
}

lathe_status subject_find(struct subject *subject, const char *word,
                          const char *const *places, struct error *err) {
    char *path = NULL;
    lathe_status status = manifest_format(&subject->format, err);
    if (status == LATHE_OK) status = choose_file(word, places, &path, err);
    if (status != LATHE_OK) return status;
    char *beside =
        text_ends_with(path, ".so") ? manifest_beside(path, subject->format) : NULL;
    if (beside) {
        free(path);
        path = beside;
    }
    if (text_ends_with(path, ".so"))
        manifest_from_library(path, subject->format, &subject->manifest,
                              &subject->refused);
    else if (manifest_read(path, subject->format, &subject->manifest,
                           &subject->refused) == LATHE_OK)
        manifest_check_library(subject->manifest, subject->format, &subject->refused);
    subject->directory = path_directory(path);
    free(path);
    return subject->directory ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
}
