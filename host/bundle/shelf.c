/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/path.h"
#include "base/trust.h"
#include "bundle/shelf_parts.h"

#define RESERVE_BYTES ((int64_t)16 << 20) /* that are left for others */
#define TRIES 16

lathe_status shelf_place(const char *given, char **place, struct error *err) {
    char *data = given ? NULL : path_xdg("data");
    if (!given && !data) {
        fail(err, LATHE_ENOTFOUND, "there is no data directory without HOME");
        error_help(err, "say where bundles are unpacked: --store DIR");
        return LATHE_ENOTFOUND;
    }
    *place = given ? path_absolute(given) : path_join(data, "lathe/bundles");
    free(data);
    return *place ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
}

/* ---- a folder aside ---- */

/* A folder that nobody else knows of, open and locked. */
struct aside {
    char *path;
    int folder;
    struct tree tree;
};

static lathe_status fail_create(const char *path, struct error *err) {
    const int number = errno;
    fail(err, number == ENOSPC || number == EDQUOT ? LATHE_EIO : LATHE_ECREATE,
         "cannot unpack in \"%.400s\": %s", path, strerror(number));
    error_help(err, "--store DIR unpacks bundles elsewhere");
    return err ? err->status : LATHE_ECREATE;
}

/* Made for the user alone. */
static lathe_status make_place(const char *place, struct error *err) {
    char *parent = path_directory(place),
         *above = parent ? path_directory(parent) : NULL;
    lathe_status status = above ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
    if (!status && access(place, F_OK)) {
        status = access(above, F_OK) ? path_make_directories(above, err) : LATHE_OK;
        if (!status && ((mkdir(parent, 0700) && errno != EEXIST) ||
                        (mkdir(place, 0700) && errno != EEXIST)))
            status = fail_create(place, err);
        else if (status)
            error_help(err, "--store DIR unpacks bundles elsewhere");
    }
    if (!status) status = trust_check_folder(place, err);
    free(above);
    free(parent);
    return status;
}

/* Is the open folder still there? A sweep may have had it before it was locked. */
static bool is_there(const struct aside *aside) {
    struct stat open, named;
    return fstat(aside->folder, &open) == 0 && lstat(aside->path, &named) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

static lathe_status open_aside(const char *place, struct aside *aside,
                               struct error *err) {
    for (int tries = 0; tries < TRIES; tries++) {
        aside->path = text_make("%s/" SHELF_ASIDE "XXXXXX", place);
        if (!aside->path) return fail(err, LATHE_ENOMEM, "out of memory");
        if (!mkdtemp(aside->path)) break;
        aside->folder = open(aside->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (aside->folder >= 0 && !flock(aside->folder, LOCK_EX | LOCK_NB) &&
            is_there(aside))
            return LATHE_OK;
        if (aside->folder >= 0) close(aside->folder);
        free(aside->path);
        aside->path = NULL;
        aside->folder = -1;
    }
    lathe_status status = fail_create(place, err);
    free(aside->path);
    aside->path = NULL;
    return status;
}

/* What still has that name goes. */
static void close_aside(struct aside *aside) {
    tree_end(&aside->tree);
    if (aside->folder >= 0 && aside->path) {
        tree_clear(aside->folder);
        rmdir(aside->path);
    }
    if (aside->folder >= 0) close(aside->folder);
    free(aside->path);
}

static lathe_status check_room(int folder, const struct bundle *bundle,
                               const char *place, struct error *err) {
    struct statvfs system;
    struct text has = {0}, needs = {0};
    if (fstatvfs(folder, &system) || !system.f_blocks) return LATHE_OK;
    const int64_t free_bytes = (int64_t)(system.f_bavail * system.f_frsize);
    if (free_bytes - RESERVE_BYTES >= bundle->total) return LATHE_OK;
    bundle_add_size(free_bytes, &has);
    bundle_add_size(bundle->total + RESERVE_BYTES, &needs);
    fail(err, LATHE_EIO, "\"%.300s\" has %s left, and the bundle needs %s", place,
         has.data ? has.data : "?", needs.data ? needs.data : "?");
    error_help(err, "make room (\"lathe store prune\"), or unpack elsewhere: "
                    "--store DIR");
    text_finish(&has);
    text_finish(&needs);
    return LATHE_EIO;
}

/* All of the bundle, on the disk. */
static lathe_status fill(struct aside *aside, struct intake *intake, mode_t file_mode,
                         mode_t folder_mode, struct error *err) {
    size_t json_count, signature_count;
    const char *json = intake_text(intake, &json_count);
    const char *signature = intake_signature(intake, &signature_count);
    aside->tree = (struct tree){aside->folder, aside->path, file_mode, -1, 0};
    const struct intake_sink sink = tree_sink(&aside->tree);
    lathe_status status = intake_files(intake, &sink, err);
    if (!status) status = tree_write(&aside->tree, BUNDLE_JSON, json, json_count, err);
    if (!status && signature_count)
        status =
            tree_write(&aside->tree, BUNDLE_SIGNATURE, signature, signature_count, err);
    return status ? status : tree_seal(aside->folder, folder_mode, err);
}

static void sync_place(const char *place) {
    const int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* ---- putting ---- */

/* Two may have unpacked the same at once: the first one's stays. */
static lathe_status give_name(struct aside *aside, const char *place,
                              const char *folder, struct error *err) {
    if (rename(aside->path, folder) == 0) {
        free(aside->path);
        aside->path = NULL;
        sync_place(place);
        return LATHE_OK;
    }
    if (errno == EEXIST || errno == ENOTEMPTY) return shelf_check(folder, NULL, err);
    return fail_create(place, err);
}

static lathe_status unpack_to(const char *place, const char *folder,
                              struct intake *intake, const struct bundle *bundle,
                              struct error *err) {
    struct aside aside = {.folder = -1, .tree = {.fd = -1}};
    lathe_status status = make_place(place, err);
    if (status) return status;
    shelf_sweep(place);
    status = open_aside(place, &aside, err);
    if (!status) status = check_room(aside.folder, bundle, place, err);
    if (!status) status = fill(&aside, intake, 0444, 0555, err);
    if (!status) status = give_name(&aside, place, folder, err);
    close_aside(&aside);
    return status;
}

static void note_use(const char *folder) {
    utimensat(AT_FDCWD, folder, NULL, 0);
}

static char *folder_of(const char *place, const char *id) {
    return text_make("%s/" SHELF_PREFIX "%s", place, id);
}

lathe_status shelf_put(const char *place, struct intake *intake,
                       const struct bundle *bundle, char **folder, bool *is_mended,
                       struct error *err) {
    *folder = folder_of(place, bundle->id);
    if (is_mended) *is_mended = false;
    lathe_status status = *folder ? shelf_check(*folder, NULL, err)
                                  : fail(err, LATHE_ENOMEM, "out of memory");
    if (status == LATHE_EDATA) {
        status = shelf_remove(place, bundle->id, err);
        if (!status) status = LATHE_ENOTFOUND;
        if (is_mended) *is_mended = status == LATHE_ENOTFOUND;
    }
    if (status == LATHE_ENOTFOUND)
        status = unpack_to(place, *folder, intake, bundle, err);
    if (!status) {
        if (err) *err = (struct error){0};
        note_use(*folder);
        return LATHE_OK;
    }
    free(*folder);
    *folder = NULL;
    return status;
}

lathe_status shelf_unpack(const char *folder, struct intake *intake,
                          const struct bundle *bundle, struct error *err) {
    char *path = path_absolute(folder), *parent = path ? path_directory(path) : NULL;
    struct aside aside = {.folder = -1, .tree = {.fd = -1}};
    lathe_status status = parent ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
    if (!status && access(parent, F_OK)) status = path_make_directories(parent, err);
    if (!status) status = open_aside(parent, &aside, err);
    if (!status) status = check_room(aside.folder, bundle, parent, err);
    if (!status) status = fill(&aside, intake, 0644, 0755, err);
    if (!status && rename(aside.path, path)) {
        status = fail(err, LATHE_ECREATE, "cannot unpack to \"%.400s\": %s", path,
                      strerror(errno));
        if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)
            error_help(err, "name a folder that is not there yet: -o DIR");
    } else if (!status) {
        free(aside.path);
        aside.path = NULL;
    }
    close_aside(&aside);
    free(parent);
    free(path);
    return status;
}

/* ---- keeping house ---- */

lathe_status shelf_remove(const char *place, const char *id, struct error *err) {
    char *folder = folder_of(place, id);
    struct aside aside = {.folder = -1, .tree = {.fd = -1}};
    lathe_status status = folder ? open_aside(place, &aside, err)
                                 : fail(err, LATHE_ENOMEM, "out of memory");
    /* It has another name before the first of its files goes. */
    if (!status && (fchmodat(AT_FDCWD, folder, 0700, 0) ||
                    renameat(AT_FDCWD, folder, aside.folder, "old")))
        status = fail(err, error_from_errno(errno), "cannot remove \"%.400s\": %s",
                      folder, strerror(errno));
    if (aside.folder >= 0) close_aside(&aside);
    free(folder);
    return status;
}

int shelf_sweep(const char *place) {
    int count = 0;
    DIR *listing = opendir(place);
    for (const struct dirent *item; listing && (item = readdir(listing));) {
        if (strncmp(item->d_name, SHELF_ASIDE, strlen(SHELF_ASIDE))) continue;
        const int folder = openat(dirfd(listing), item->d_name,
                                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0) continue;
        if (flock(folder, LOCK_EX | LOCK_NB) == 0) {
            tree_clear(folder);
            if (!unlinkat(dirfd(listing), item->d_name, AT_REMOVEDIR)) count++;
        }
        close(folder);
    }
    if (listing) closedir(listing);
    return count;
}
