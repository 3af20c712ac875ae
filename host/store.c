/* SPDX-License-Identifier: MIT */
#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "base/trust.h"

#define PIECE_BYTES 65536
#define DAY_SECONDS (24 * 60 * 60)
#define DAYS_KEPT 30
#define REASON_MAX 4096
#define LOADS "loads-" LATHE_VERSION
#define REFUSED "refused-" LATHE_VERSION

/* <cache>/lathe/<place>, the caller's, private and there; NULL: why not in *err. */
static char *open_place(const char *place, struct error *err) {
    char *cache = path_xdg("cache"), *lathe = cache ? path_join(cache, "lathe") : NULL;
    char *path = lathe ? path_join(lathe, place) : NULL;
    struct statvfs system;
    lathe_status status = LATHE_OK;
    if (!cache)
        status = fail(err, LATHE_ENOTFOUND, "there is no cache directory without HOME");
    else if (!path)
        status = fail(err, LATHE_ENOMEM, "out of memory");
    if (!status && access(path, F_OK) != 0) {
        status = path_make_directories(cache, err);
        if (!status && ((mkdir(lathe, 0700) && errno != EEXIST) ||
                        (mkdir(path, 0700) && errno != EEXIST)))
            status = fail(err, error_from_create(errno), "cannot create \"%.400s\": %s",
                          path, strerror(errno));
    }
    if (!status) status = trust_check_folder(lathe, err);
    if (!status) status = trust_check_folder(path, err);
    if (!status && statvfs(path, &system) == 0 && (system.f_flag & ST_NOEXEC))
        status = fail(err, LATHE_EPERM, "\"%.400s\" is on a file system mounted noexec",
                      path);
    free(cache);
    free(lathe);
    if (!status) return path;
    free(path);
    return NULL;
}

/* ---- copies ---- */

/* All of the file to the sum, and to `to` unless that is -1. */
static lathe_status read_through(int fd, int to, char hex[DIGEST_HEX], int64_t *size,
                                 struct error *err) {
    struct digest sum;
    uint8_t piece[PIECE_BYTES];
    digest_begin(&sum);
    for (*size = 0;;) {
        const ssize_t got = pread(fd, piece, sizeof piece, *size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fail(err, LATHE_EIO, "it cannot be read: %s", strerror(errno));
        if (got == 0) break;
        digest_add(&sum, piece, (size_t)got);
        *size += got;
        lathe_status status =
            to < 0 ? LATHE_OK : file_write(to, piece, (size_t)got, "its copy", err);
        if (status) return status;
    }
    digest_end(&sum, hex);
    return LATHE_OK;
}

/* Ours or root's, and nobody else's to write. */
static bool is_ours(const struct stat *info) {
    return (info->st_uid == geteuid() || info->st_uid == 0) &&
           !(info->st_mode & (S_IWGRP | S_IWOTH));
}

/* Is the copy there, as far as can be seen without reading it? */
static bool has_copy(const char *folder, const char *path, int64_t size) {
    struct stat at, copy;
    if (lstat(folder, &at) || !S_ISDIR(at.st_mode) || !is_ours(&at)) return false;
    if (lstat(path, &copy) || !S_ISREG(copy.st_mode) || !is_ours(&copy)) return false;
    return copy.st_size == size && !(copy.st_mode & S_IWUSR);
}

/* The time of a folder tells when it was last used; a day is close enough. */
static void note_use(const char *folder) {
    struct stat info;
    if (stat(folder, &info) == 0 && time(NULL) - info.st_mtime > DAY_SECONDS)
        utimensat(AT_FDCWD, folder, NULL, 0);
}

static void remove_folder(const char *folder) {
    DIR *listing = opendir(folder);
    for (const struct dirent *item; listing && (item = readdir(listing));)
        unlinkat(dirfd(listing), item->d_name, 0);
    if (listing) closedir(listing);
    rmdir(folder);
}

/* A process that runs one of them keeps what it has mapped. */
static void remove_unused(const char *place) {
    const time_t oldest = time(NULL) - (time_t)DAYS_KEPT * DAY_SECONDS;
    DIR *listing = opendir(place);
    for (const struct dirent *item; listing && (item = readdir(listing));) {
        struct stat info;
        char *path = path_join(place, item->d_name);
        if (path && strspn(item->d_name, ".") != strlen(item->d_name) &&
            lstat(path, &info) == 0 && info.st_mtime < oldest && unlink(path) != 0)
            remove_folder(path);
        free(path);
    }
    if (listing) closedir(listing);
}

/* Into `aside`, hashed once more: the name is that of what was copied, whatever became
 * of the original meanwhile. */
static lathe_status copy_aside(int fd, const char *aside, char hex[DIGEST_HEX],
                               int64_t *size, struct error *err) {
    unlink(aside); /* of a thread of that number that is no more */
    const int to =
        file_keep_clear(open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (to < 0)
        return fail(err, error_from_create(errno), "cannot create \"%.400s\": %s",
                    aside, strerror(errno));
    lathe_status status = read_through(fd, to, hex, size, err);
    if (!status && fchmod(to, 0444))
        status = fail(err, LATHE_EIO, "cannot protect it: %s", strerror(errno));
    if (close(to) && !status)
        status = fail(err, LATHE_EIO, "cannot write it: %s", strerror(errno));
    return status;
}

/* Fills in item->path: <place>/<digest>/<name>. */
static lathe_status find_copy(const char *place, const char *name, int64_t size,
                              struct store_item *item, const char *aside,
                              struct error *err) {
    char *folder = path_join(place, item->digest);
    char *path = folder ? path_join(folder, name) : NULL;
    lathe_status status = path ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
    if (!status && aside &&
        ((mkdir(folder, 0700) && errno != EEXIST) || rename(aside, path)))
        status = fail(err, error_from_create(errno), "cannot create \"%.400s\": %s",
                      path, strerror(errno));
    if (!status && !has_copy(folder, path, size))
        status = fail(err, LATHE_EMISSING, "\"%.400s\" is not as it was made", path);
    if (!status) note_use(folder);
    if (status) {
        free(path);
        path = NULL;
    }
    item->path = path;
    free(folder);
    return status;
}

static lathe_status make_copy(int fd, const char *place, const char *name,
                              struct store_item *item, struct error *err) {
    int64_t size = 0;
    char *aside = text_make("%s/.%ld-%ld", place, (long)getpid(), (long)gettid());
    if (!aside) return fail(err, LATHE_ENOMEM, "out of memory");
    remove_unused(place);
    lathe_status status = copy_aside(fd, aside, item->digest, &size, err);
    if (!status) status = find_copy(place, name, size, item, aside, err);
    if (status) unlink(aside);
    free(aside);
    return status;
}

lathe_status store_take(int fd, const char *name, struct store_item *item,
                        struct error *err) {
    int64_t size = 0;
    *item = (struct store_item){0};
    lathe_status status = read_through(fd, -1, item->digest, &size, err);
    if (status) return status;
    char *place = open_place("plugins", &item->reason);
    if (place && find_copy(place, name, size, item, NULL, &item->reason))
        make_copy(fd, place, name, item, &item->reason);
    /* The sum may be that of a copy which came to nothing. */
    if (place && !item->path) status = read_through(fd, -1, item->digest, &size, err);
    free(place);
    return status;
}

void store_finish(struct store_item *item) {
    free(item->path);
    item->path = NULL;
}

/* ---- verdicts ---- */

/* <cache>/lathe/<place>/<name>, the caller's; makes nothing. */
static char *path_in(const char *place, const char *name) {
    char *cache = path_xdg("cache");
    char *path = cache ? text_make("%s/lathe/%s/%s", cache, place, name) : NULL;
    free(cache);
    return path;
}

static bool is_there(const char *path) {
    return path && access(path, F_OK) == 0;
}

enum store_verdict store_recall(const char *digest, struct error *err) {
    enum store_verdict verdict = STORE_UNKNOWN;
    char *folder = path_in("plugins", digest), *refused = path_in(REFUSED, digest);
    char *loads = folder ? path_join(folder, LOADS) : NULL, *reason = NULL;
    if (is_there(refused) && !file_read(refused, REASON_MAX, &reason, NULL, NULL)) {
        verdict = STORE_REFUSED;
        fail(err, LATHE_EMISSING, "%s", reason);
        error_help(err, STORE_HELP);
    } else if (is_there(loads)) {
        verdict = STORE_LOADS;
    }
    free(folder);
    free(refused);
    free(loads);
    free(reason);
    return verdict;
}

void store_remember(const char *digest, const struct error *refused) {
    char *place = open_place(refused ? REFUSED : "plugins", NULL);
    char *path =
        place ? text_make("%s/%s%s", place, digest, refused ? "" : "/" LOADS) : NULL;
    if (path && refused) {
        file_replace(path, refused->what, strlen(refused->what), NULL);
    } else if (path) {
        const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
        if (fd >= 0) close(fd);
    }
    free(path);
    free(place);
}

/* How many there were; unless they are removed, whether there is one. */
static int count_refused(bool is_removing, struct error *err) {
    char *place = path_in(REFUSED, "");
    DIR *listing = place ? opendir(place) : NULL;
    int count = 0;
    for (const struct dirent *item; listing && (item = readdir(listing));) {
        if (item->d_name[0] == '.') continue;
        if (is_removing && unlinkat(dirfd(listing), item->d_name, 0)) {
            fail(err, LATHE_EIO, "cannot remove \"%.200s%s\": %s", place, item->d_name,
                 strerror(errno));
            break;
        }
        count++;
        if (!is_removing) break;
    }
    if (listing) closedir(listing);
    free(place);
    return count;
}

bool store_has_refused(void) {
    return count_refused(false, NULL) > 0;
}

lathe_status store_forget_refused(int *count, struct error *err) {
    struct error own = {0};
    *count = count_refused(true, &own);
    if (err) *err = own;
    return own.status;
}
