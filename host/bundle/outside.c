/* SPDX-License-Identifier: MIT */
#include "bundle/outside.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"

#define DEPTH_MAX 3

struct search {
    const struct bundle_file *file;
    const char *name; /* after the last '/' */
    char *found;
    char *other; /* of that name, with other bytes */
    bool is_broken;
};

/* Takes `path` over. */
static void try_file(struct search *search, char *path, const struct stat *info) {
    char hex[DIGEST_HEX];
    const bool has_name = !strcmp(path_name(path), search->name);
    const bool is_right = info->st_size == search->file->size &&
                          digest_file(path, NULL, hex, NULL) == LATHE_OK &&
                          !strcmp(hex, search->file->sha256);
    if (is_right && !search->found) {
        search->found = path;
    } else if (has_name && !is_right && !search->other) {
        search->other = path;
    } else {
        free(path);
    }
}

/* By name first: the other files of that size may be many and large. */
static void look_by_name(struct search *search, const char *folder) {
    struct stat info;
    char *path = path_join(folder, search->name);
    if (!path)
        search->is_broken = true;
    else if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
        try_file(search, path, &info);
    else
        free(path);
}

static int is_item(const struct dirent *item) {
    return strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0;
}

static void look_below(struct search *search, const char *folder, int depth) {
    struct dirent **items = NULL;
    const int count = scandir(folder, &items, is_item, file_compare_entries);
    for (int i = 0; i < count; i++) {
        struct stat info;
        char *path = search->found ? NULL : path_join(folder, items[i]->d_name);
        const bool is_hidden = items[i]->d_name[0] == '.'; /* such as .git */
        if (path && !is_hidden && stat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
            depth < DEPTH_MAX)
            look_below(search, path, depth + 1);
        if (path && stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
            (info.st_size == search->file->size ||
             !strcmp(items[i]->d_name, search->name))) {
            try_file(search, path, &info);
            path = NULL;
        }
        free(path);
        free(items[i]);
    }
    free(items);
}

static lathe_status ask(const struct search *search, const char *const *folders,
                        struct error *err) {
    const struct bundle_file *file = search->file;
    struct text size = {0};
    bundle_add_size(file->size, &size);
    if (search->other)
        fail(err, LATHE_EDATA, "\"%.300s\" is not the \"%.100s\" that was packed",
             search->other, search->name);
    else
        fail(err, LATHE_ENOTFOUND, "\"%.200s\" is not in the bundle%s", search->name,
             folders && folders[0] ? ", nor in the folder given" : "");
    error_where(err, "%s", json_text(json_at(file->used_by, 0)));
    error_help(err, "give the folder that has it (%s, SHA-256 %s): --data DIR",
               size.data ? size.data : "?", file->sha256);
    text_finish(&size);
    return search->other ? LATHE_EDATA : LATHE_ENOTFOUND;
}

lathe_status outside_check_folders(const char *const *folders, struct error *err) {
    for (size_t i = 0; folders && folders[i]; i++) {
        struct stat info;
        const int code = stat(folders[i], &info);
        if (code == 0 && S_ISDIR(info.st_mode)) continue;
        const lathe_status status = code ? error_from_errno(errno) : LATHE_ENOTFOUND;
        fail(err, status, "\"%.300s\": %s", folders[i],
             code ? strerror(errno) : "it is no folder");
        error_where(err, "--data");
        return status;
    }
    return LATHE_OK;
}

lathe_status outside_find(const struct bundle_file *file, const char *const *folders,
                          char **path, struct error *err) {
    struct search search = {.file = file, .name = path_name(file->path)};
    *path = NULL;
    for (size_t i = 0; folders && folders[i] && !search.found; i++)
        look_by_name(&search, folders[i]);
    for (size_t i = 0; folders && folders[i] && !search.found; i++)
        look_below(&search, folders[i], 0);
    lathe_status status = LATHE_OK;
    if (search.found)
        *path = path_absolute(search.found);
    else if (!search.is_broken)
        status = ask(&search, folders, err);
    if (!status && !*path) status = path_fail(err);
    free(search.found);
    free(search.other);
    return status;
}
