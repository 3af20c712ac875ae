/* SPDX-License-Identifier: MIT */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nearest.h"
#include "path.h"
#include "text.h"

#define NAMES_MAX 4096 /* of a directory, looked at for the nearest name */

static const char *name_type(mode_t mode) {
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFIFO:
        return "a FIFO";
    case S_IFSOCK:
        return "a socket";
    case S_IFCHR:
    case S_IFBLK:
        return "a device";
    default:
        return "not a regular file";
    }
}

/* Helps with the name in its directory that was probably meant. */
static void help_nearest(const char *path, struct error *err) {
    char *folder = path_directory(path);
    DIR *listing = folder ? opendir(folder) : NULL;
    if (!listing) {
        if (folder && errno == ENOENT)
            error_help(err, "there is no directory \"%.300s\" either", folder);
        free(folder);
        return;
    }
    struct nearest nearest;
    nearest_begin(&nearest, path_name(path));
    struct dirent *entry;
    for (int i = 0; i < NAMES_MAX && (entry = readdir(listing)); i++)
        nearest_offer(&nearest, entry->d_name);
    if (nearest.best) error_help(err, "did you mean \"%.300s\"?", nearest.best);
    closedir(listing);
    free(folder);
}

static lathe_status fail_open(const char *path, int number, struct error *err) {
    struct stat info;
    if (number == ENXIO && stat(path, &info) == 0)
        return fail(err, LATHE_EDATA, "\"%.400s\" is %s; a regular file was expected",
                    path, name_type(info.st_mode));
    char target[256];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (number == ENOENT && length > 0)
        return fail(err, LATHE_ENOTFOUND,
                    "\"%.200s\" is a link to \"%.*s\", which is not there", path,
                    (int)length, target);
    if (number == ENOENT) {
        fail(err, LATHE_ENOTFOUND, "there is no file \"%.400s\"", path);
        help_nearest(path, err);
        return LATHE_ENOTFOUND;
    }
    return fail(err, error_from_errno(number), "cannot open \"%.400s\": %s", path,
                strerror(number));
}

lathe_status file_open(const char *path, int *fd, int64_t *size, struct error *err) {
    int opened = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (opened < 0) return fail_open(path, errno, err);
    struct stat info;
    if (fstat(opened, &info)) {
        int number = errno;
        close(opened);
        return fail_open(path, number, err);
    }
    if (!S_ISREG(info.st_mode)) {
        close(opened);
        return fail(err, LATHE_EDATA, "\"%.400s\" is %s; a regular file was expected",
                    path, name_type(info.st_mode));
    }
    *fd = opened;
    if (size) *size = info.st_size;
    return LATHE_OK;
}

static lathe_status fail_size(const char *path, size_t limit, struct error *err) {
    return fail(err, LATHE_EDATA,
                "\"%.400s\" is too large: at most %zu bytes are accepted", path, limit);
}

/* Reads to the end, however long the file has become since it was opened. */
static lathe_status read_all(int fd, const char *path, size_t limit, struct text *text,
                             struct error *err) {
    char piece[16384];
    for (;;) {
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fail(err, LATHE_EIO, "cannot read \"%.400s\": %s", path,
                        strerror(errno));
        text_add_bytes(text, piece, (size_t)got);
        if (text->is_broken)
            return fail(err, LATHE_ENOMEM, "no memory to read \"%.400s\"", path);
        if (got == 0) return LATHE_OK;
        if (text->length > limit) return fail_size(path, limit, err);
    }
}

lathe_status file_read(const char *path, size_t limit, char **content, size_t *length,
                       struct error *err) {
    int fd = -1;
    int64_t size = 0;
    lathe_status status = file_open(path, &fd, &size, err);
    if (status) return status;
    struct text text = {0};
    if ((uint64_t)size > limit)
        status = fail_size(path, limit, err);
    else
        status = read_all(fd, path, limit, &text, err);
    close(fd);
    if (status) {
        text_finish(&text);
        return status;
    }
    *content = text.data;
    if (length) *length = text.length;
    return LATHE_OK;
}

lathe_status file_write(int fd, const void *bytes, size_t count, const char *path,
                        struct error *err) {
    const char *from = bytes;
    while (count) {
        ssize_t wrote = write(fd, from, count);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0)
            return fail(err, LATHE_EIO, "cannot write \"%.400s\": %s", path,
                        strerror(wrote < 0 ? errno : ENOSPC));
        from += wrote;
        count -= (size_t)wrote;
    }
    return LATHE_OK;
}

/* Makes a rename last. What is no file system of its own cannot, and says EINVAL. */
static lathe_status sync_directory(const char *path, struct error *err) {
    char *folder = path_directory(path);
    if (!folder) return fail(err, LATHE_ENOMEM, "no memory to write \"%.400s\"", path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int number = fd >= 0 && fsync(fd) == 0 ? 0 : errno;
    if (fd >= 0) close(fd);
    free(folder);
    if (number == 0 || number == EINVAL || number == EACCES) return LATHE_OK;
    return fail(err, LATHE_EIO, "cannot sync the directory of \"%.400s\": %s", path,
                strerror(number));
}

int file_keep_clear(int fd) {
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    int kept = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int number = errno;
    close(fd);
    errno = number;
    return kept;
}

/* Writes the new content to a file that must not be there yet. */
static lathe_status write_aside(const char *aside, const char *path, const void *bytes,
                                size_t count, bool is_durable, struct error *err) {
    int fd =
        file_keep_clear(open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd < 0)
        return fail(err, error_from_create(errno), "cannot create \"%.400s\": %s", path,
                    strerror(errno));
    lathe_status status = file_write(fd, bytes, count, path, err);
    bool is_synced = !status && (!is_durable || fsync(fd) == 0);
    /* Also where writes are reported late: NFS, quotas. */
    if ((close(fd) != 0 || !is_synced) && !status)
        status =
            fail(err, LATHE_EIO, "cannot write \"%.400s\": %s", path, strerror(errno));
    return status;
}

static lathe_status replace(const char *path, const void *bytes, size_t count,
                            bool is_durable, struct error *err) {
    const char *name = path_name(path);
    char *aside =
        text_make("%.*s.%s.%ld.tmp", (int)(name - path), path, name, (long)gettid());
    if (!aside) return fail(err, LATHE_ENOMEM, "no memory to write \"%.400s\"", path);
    unlink(aside); /* of a thread of that number that is no more */
    lathe_status status = write_aside(aside, path, bytes, count, is_durable, err);
    if (!status && rename(aside, path))
        status = fail(err, error_from_create(errno), "cannot replace \"%.400s\": %s",
                      path, strerror(errno));
    if (status)
        unlink(aside);
    else if (is_durable)
        status = sync_directory(path, err);
    free(aside);
    return status;
}

lathe_status file_replace(const char *path, const void *bytes, size_t count,
                          struct error *err) {
    return replace(path, bytes, count, true, err);
}

lathe_status file_replace_unsynced(const char *path, const void *bytes, size_t count,
                                   struct error *err) {
    return replace(path, bytes, count, false, err);
}

void file_clear(int folder) {
    (void)!fchmod(folder, 0700);
    const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = own >= 0 ? fdopendir(own) : NULL;
    if (own >= 0 && !listing) close(own);
    for (const struct dirent *item; listing && (item = readdir(listing));) {
        if (!path_is_plain_name(item->d_name)) continue;
        const int inner = openat(folder, item->d_name,
                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0) {
            file_clear(inner);
            close(inner);
        }
        unlinkat(folder, item->d_name, inner >= 0 ? AT_REMOVEDIR : 0);
    }
    if (listing) closedir(listing);
}

void file_remove_tree(const char *path) {
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return;
    file_clear(folder);
    close(folder);
    rmdir(path);
}

bool file_is_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Takes `path`; NULL at the top, or without memory. */
static char *go_up(char *path) {
    char *above = path ? path_directory(path) : NULL;
    if (above && !strcmp(above, path)) {
        free(above);
        above = NULL;
    }
    free(path);
    return above;
}

bool file_is_inside(const char *path, const char *directory) {
    struct stat outer, info;
    char *real = NULL;
    if (stat(directory, &outer) || !S_ISDIR(outer.st_mode)) return false;
    for (char *at = text_copy(path); at; at = real ? NULL : go_up(at)) {
        real = realpath(at, NULL);
        if (real) free(at);
    }
    while (real && !(stat(real, &info) == 0 && file_is_same(&info, &outer)))
        real = go_up(real);
    const bool is_found = real;
    free(real);
    return is_found;
}

int file_compare_entries(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

const char *file_temporary(void) {
    const char *named = getenv("TMPDIR");
    return named && *named ? named : P_tmpdir;
}
