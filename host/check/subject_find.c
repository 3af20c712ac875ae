/* SPDX-License-Identifier: MIT */
/* Which plugin is meant: a folder, a manifest or a library, or an installed one by its
 * name. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "check/subject.h"
#include "registry.h"

/* The file that an installed plugin was found by; the caller's. */
static lathe_status find_named(const char *word, const char *const *places, char **path,
                               struct error *err) {
    struct registry *registry = NULL;
    const struct registry_entry *found = NULL;
    lathe_status status = registry_open(places, NULL, &registry, err);
    if (status != LATHE_OK) return status;
    status = registry_find_word(registry, word, &found, err);
    if (status == LATHE_OK && !(*path = text_copy(found->path)))
        status = fail(err, LATHE_ENOMEM, "out of memory");
    if (status != LATHE_OK) error_where(err, "command line of \"check\"");
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
        if (reason == ENOENT && !registry_is_path(word))
            return find_named(word, places, path, err);
        return fail(err, error_from_errno(reason), "%s: %s", word, strerror(reason));
    }
    char *absolute = path_absolute(word);
    if (!absolute) return path_fail(err);
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
