/* SPDX-License-Identifier: MIT */
#include "bundle/shelf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/trust.h"
#include "bundle/tree.h"

#define TREE_MODES (S_IWGRP | S_IWOTH)

/* ---- one ---- */

const char *shelf_id(const char *name) {
    const char *id = name + strlen(SHELF_PREFIX);
    return !strncmp(name, SHELF_PREFIX, strlen(SHELF_PREFIX)) && digest_is_text(id)
               ? id
               : NULL;
}

static lathe_status check_file(const char *folder, const struct bundle_file *file,
                               struct error *err) {
    char hex[DIGEST_HEX];
    struct stat info;
    char *path = path_join(folder, file->path);
    lathe_status status = path ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
    if (!status && (lstat(path, &info) || !S_ISREG(info.st_mode)))
        status = fail(err, LATHE_EDATA, "\"%.400s\" is not there any more", path);
    if (!status && (info.st_size != file->size || info.st_mode & TREE_MODES))
        status = fail(err, LATHE_EDATA, "\"%.400s\" is not as it was unpacked", path);
    if (!status) status = digest_file(path, NULL, hex, err);
    if (!status && strcmp(hex, file->sha256))
        status = fail(err, LATHE_EDATA,
                      "\"%.400s\" is not as it was unpacked: its SHA-256 is %.12s…",
                      path, hex);
    free(path);
    return status;
}

/* Also checks that the folder's name is the digest of its bundle.json. */
static lathe_status read_json(const char *folder, struct bundle *bundle,
                              struct error *err) {
    const char *id = shelf_id(path_name(folder));
    char *path = path_join(folder, BUNDLE_JSON), *content = NULL;
    size_t count = 0;
    lathe_status status = path ? file_read(path, BUNDLE_TEXT_MAX, &content, &count, err)
                               : fail(err, LATHE_ENOMEM, "out of memory");
    if (status && status != LATHE_ENOMEM) status = LATHE_EDATA;
    if (!status) status = bundle_parse(content, count, folder, bundle, err);
    if (!status && (!id || strcmp(id, bundle->id)))
        status = fail(err, LATHE_EDATA, "\"%.400s\" holds another bundle", folder);
    free(content);
    free(path);
    return status;
}

/* A file that is not listed might be taken for a plugin of the bundle. */
static lathe_status check_rest(const char *folder, const struct bundle *bundle,
                               struct error *err) {
    errno = 0;
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int64_t count = fd < 0 ? -1 : tree_count(fd);
    if (fd >= 0 && !faccessat(fd, BUNDLE_SIGNATURE, F_OK, AT_SYMLINK_NOFOLLOW)) count--;
    const int number = count < 0 ? errno : 0;
    if (fd >= 0) close(fd);
    if (error_from_errno(number) == LATHE_ENOMEM)
        return fail(err, LATHE_ENOMEM, "cannot open \"%.400s\": %s", folder,
                    strerror(number));
    if (count == (int64_t)bundle->file_count + 1) return LATHE_OK;
    return fail(err, LATHE_EDATA,
                "\"%.400s\" holds more than was unpacked, or others may write in it",
                folder);
}

/* Whoever may write in the place could exchange the folder after it was checked, and
 * before anything is loaded from it. */
static lathe_status check_place(const char *folder, struct error *err) {
    char *place = path_directory(folder);
    lathe_status status = place ? trust_check_folder(place, err)
                                : fail(err, LATHE_ENOMEM, "out of memory");
    if (!status) status = trust_check_folder(folder, err);
    free(place);
    return status;
}

lathe_status shelf_check(const char *folder, struct bundle *bundle, struct error *err) {
    struct bundle own = {0};
    struct stat info = {0};
    if (lstat(folder, &info) && (errno == ENOENT || errno == ENOTDIR))
        return fail(err, LATHE_ENOTFOUND, "there is no \"%.400s\"", folder);
    lathe_status status =
        S_ISDIR(info.st_mode)
            ? check_place(folder, err)
            : fail(err, LATHE_EDATA, "\"%.400s\" is no folder", folder);
    if (!status) status = read_json(folder, &own, err);
    for (size_t i = 0; i < own.file_count && !status; i++)
        status = check_file(folder, &own.files[i], err);
    if (!status) status = check_rest(folder, &own, err);
    if (bundle)
        *bundle = own;
    else
        bundle_finish(&own);
    return status;
}

/* ---- all ---- */

static int compare_items(const void *a, const void *b) {
    return strcmp(((const struct shelf_item *)a)->id,
                  ((const struct shelf_item *)b)->id);
}

static lathe_status add_item(const char *place, const char *name,
                             struct shelf_list *list, struct error *err) {
    struct shelf_item *items = grow(list->items, list->count, sizeof *items);
    char *folder = path_join(place, name);
    struct bundle bundle = {0};
    struct stat info = {0};
    if (items) list->items = items;
    lathe_status status =
        items && folder ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
    if (!status && lstat(folder, &info) == 0) {
        struct shelf_item *item = &list->items[list->count];
        *item = (struct shelf_item){.used = info.st_mtime};
        memcpy(item->id, shelf_id(name), sizeof item->id);
        const bool is_read = read_json(folder, &bundle, NULL) == LATHE_OK;
        item->name = text_copy(is_read ? bundle.name : "?");
        item->size = bundle.total;
        if (item->name)
            list->count++;
        else
            status = fail(err, LATHE_ENOMEM, "out of memory");
    }
    bundle_finish(&bundle);
    free(folder);
    return status;
}

lathe_status shelf_read(const char *place, struct shelf_list *list, struct error *err) {
    lathe_status status = LATHE_OK;
    *list = (struct shelf_list){0};
    DIR *listing = opendir(place);
    if (!listing && errno != ENOENT)
        return fail(err, error_from_errno(errno), "cannot read \"%.400s\": %s", place,
                    strerror(errno));
    for (const struct dirent *item; listing && !status && (item = readdir(listing));)
        if (shelf_id(item->d_name)) status = add_item(place, item->d_name, list, err);
    if (listing) closedir(listing);
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_items);
    return status;
}

void shelf_finish(struct shelf_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i].name);
    free(list->items);
    *list = (struct shelf_list){0};
}
