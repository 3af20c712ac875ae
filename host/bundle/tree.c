/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive_tar.h"
#include "base/file.h"
#include "bundle/tree.h"

static lathe_status fail_tree(const struct tree *tree, const char *name,
                              struct error *err) {
    return fail(err, error_from_create(errno), "cannot create \"%.250s/%.200s\": %s",
                tree->path, name, strerror(errno));
}

/* ---- writing ---- */

/* The folder that the file is to be in, made where it is not there; -1. */
static int enter_folder(int folder, const char *path) {
    char part[ARCHIVE_NAME_MAX + 1];
    int at = fcntl(folder, F_DUPFD_CLOEXEC, 3);
    for (const char *end; at >= 0 && (end = strchr(path, '/')); path = end + 1) {
        snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
        int inner = mkdirat(at, part, 0700) && errno != EEXIST ? -1 : 0;
        if (inner == 0)
            inner = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        const int number = errno;
        close(at);
        errno = number;
        at = inner;
    }
    return at;
}

static lathe_status open_file(struct tree *tree, const char *path, struct error *err) {
    const char *name = strrchr(path, '/');
    const int folder = enter_folder(tree->staging->folder, path);
    if (folder >= 0)
        tree->fd = file_keep_clear(
            openat(folder, name ? name + 1 : path,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    const int number = errno;
    if (folder >= 0) close(folder);
    errno = number;
    return tree->fd >= 0 ? LATHE_OK : fail_tree(tree, path, err);
}

static lathe_status begin(void *context, const struct bundle_file *file,
                          struct error *err) {
    struct tree *tree = context;
    tree->left = file->size;
    return open_file(tree, file->path, err);
}

static lathe_status add(void *context, const void *bytes, size_t count,
                        struct error *err) {
    struct tree *tree = context;
    tree->left -= (int64_t)count;
    lathe_status status = staging_check_signals(tree->staging, err);
    if (status) return status;
    if (tree->left < 0) return fail(err, LATHE_EDATA, "more came than was announced");
    return file_write(tree->fd, bytes, count, tree->path, err);
}

static lathe_status end(void *context, struct error *err) {
    struct tree *tree = context;
    const int fd = tree->fd;
    tree->fd = -1;
    const bool is_kept = fchmod(fd, tree->file_mode) == 0 && fsync(fd) == 0;
    if (close(fd) == 0 && is_kept) return LATHE_OK;
    return fail(err, LATHE_EIO, "cannot write in \"%.400s\": %s", tree->path,
                strerror(errno));
}

struct intake_sink tree_sink(struct tree *tree) {
    return (struct intake_sink){tree, begin, add, end};
}

void tree_end(struct tree *tree) {
    if (tree->fd >= 0) close(tree->fd);
    tree->fd = -1;
}

lathe_status tree_write(struct tree *tree, const char *name, const char *bytes,
                        size_t count, struct error *err) {
    const struct bundle_file file = {.path = name, .size = (int64_t)count};
    lathe_status status = begin(tree, &file, err);
    if (!status) status = add(tree, bytes, count, err);
    return status ? status : end(tree, err);
}

/* ---- walking ---- */

static DIR *list_folder(int folder) {
    const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = own >= 0 ? fdopendir(own) : NULL;
    if (own >= 0 && !listing) close(own);
    return listing;
}

static bool is_dots(const char *name) {
    return !strcmp(name, ".") || !strcmp(name, "..");
}

static int open_inner(int folder, const char *name) {
    return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static lathe_status fail_seal(struct error *err) {
    const bool is_want = error_from_errno(errno) == LATHE_ENOMEM; /* of descriptors */
    return fail(err, is_want ? LATHE_ENOMEM : LATHE_EIO, "cannot write a folder: %s",
                strerror(errno));
}

lathe_status tree_seal(int folder, mode_t mode, struct error *err) {
    lathe_status status = LATHE_OK;
    DIR *listing = list_folder(folder);
    for (const struct dirent *item; listing && !status && (item = readdir(listing));) {
        if (is_dots(item->d_name)) continue;
        const int inner = open_inner(folder, item->d_name);
        if (inner < 0 && errno != ENOTDIR) status = fail_seal(err);
        if (inner >= 0) status = tree_seal(inner, mode, err);
        if (inner >= 0) close(inner);
    }
    if (!status && (!listing || fchmod(folder, mode) || fsync(folder)))
        status = fail_seal(err);
    if (listing) closedir(listing);
    return status;
}

int64_t tree_count(int folder) {
    int64_t count = 0;
    DIR *listing = list_folder(folder);
    if (!listing) return -1;
    for (const struct dirent *item; count >= 0 && (item = readdir(listing));) {
        struct stat info;
        if (is_dots(item->d_name)) continue;
        if (fstatat(folder, item->d_name, &info, AT_SYMLINK_NOFOLLOW) ||
            info.st_mode & (S_IWGRP | S_IWOTH)) {
            count = -1;
        } else if (S_ISDIR(info.st_mode)) {
            const int inner = open_inner(folder, item->d_name);
            const int64_t below = inner < 0 ? -1 : tree_count(inner);
            if (inner >= 0) close(inner);
            count = below < 0 ? -1 : count + below;
        } else {
            count = S_ISREG(info.st_mode) ? count + 1 : -1;
        }
    }
    closedir(listing);
    return count;
}
