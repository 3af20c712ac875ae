/* SPDX-License-Identifier: MIT */
#include "bundle/staging.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "bundle/bundle.h"

#define RESERVE_BYTES ((int64_t)16 << 20) /* left free for others */
#define TRIES 16

/* ---- signals ---- */

/* Blocked, not caught: a handler would have to know the folder. A signal that is
 * ignored, as under nohup, stays ignored. */
static void hold_signals(struct staging *staging) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    sigemptyset(&staging->held);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        if (!sigaction(numbers[i], NULL, &action) && action.sa_handler != SIG_IGN)
            sigaddset(&staging->held, numbers[i]);
    }
    staging->is_holding = !pthread_sigmask(SIG_BLOCK, &staging->held, &staging->before);
}

void staging_let_signals(struct staging *staging) {
    if (staging->is_holding) pthread_sigmask(SIG_SETMASK, &staging->before, NULL);
    staging->is_holding = false;
}

bool staging_is_interrupted(const struct staging *staging) {
    sigset_t waiting;
    if (!staging->is_holding || sigpending(&waiting)) return false;
    return (sigismember(&staging->held, SIGHUP) && sigismember(&waiting, SIGHUP)) ||
           (sigismember(&staging->held, SIGINT) && sigismember(&waiting, SIGINT)) ||
           (sigismember(&staging->held, SIGTERM) && sigismember(&waiting, SIGTERM));
}

lathe_status staging_check_signals(const struct staging *staging, struct error *err) {
    if (!staging_is_interrupted(staging)) return LATHE_OK;
    return fail(err, LATHE_EIO, "interrupted by a signal");
}

/* ---- one directory ---- */

/* Is the open folder still there? A sweep may have removed it before it was locked. */
static bool is_there(const struct staging *staging) {
    struct stat open, named;
    return fstat(staging->folder, &open) == 0 && lstat(staging->path, &named) == 0 &&
           file_is_same(&open, &named);
}

/* A file system without locks is fine: nobody sweeps there either. */
static bool lock(int folder) {
    return !flock(folder, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK;
}

static void forget(struct staging *staging) {
    if (staging->folder >= 0) close(staging->folder);
    free(staging->path);
    staging->path = NULL;
    staging->folder = -1;
}

/* Makes one; false with errno. */
static bool make(const char *place, const char *prefix, struct staging *staging) {
    for (int tries = 0; tries < TRIES; tries++) {
        staging->path = text_make("%s/%sXXXXXX", place, prefix);
        if (!staging->path || !mkdtemp(staging->path)) return false;
        staging->folder = open(staging->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (staging->folder >= 0 && lock(staging->folder) && is_there(staging))
            return true;
        forget(staging);
    }
    errno = EAGAIN;
    return false;
}

lathe_status staging_open(const char *place, const char *prefix,
                          struct staging *staging, struct error *err) {
    *staging = (struct staging)STAGING_NONE;
    hold_signals(staging);
    if (make(place, prefix, staging)) return LATHE_OK;
    const int number = errno;
    forget(staging);
    staging_close(staging);
    return fail(err, error_from_create(number), "cannot write in \"%.400s\": %s", place,
                strerror(number));
}

lathe_status staging_check_room(const struct staging *staging, const char *place,
                                int64_t bytes, struct error *err) {
    struct statvfs system;
    struct text has = {0}, needs = {0};
    if (fstatvfs(staging->folder, &system) || !system.f_blocks) return LATHE_OK;
    const int64_t free_bytes = (int64_t)(system.f_bavail * system.f_frsize);
    if (free_bytes - RESERVE_BYTES >= bytes) return LATHE_OK;
    bundle_add_size(free_bytes, &has);
    bundle_add_size(bytes + RESERVE_BYTES, &needs);
    fail(err, LATHE_EIO, "\"%.300s\" has %s left, and the bundle needs %s", place,
         has.data ? has.data : "?", needs.data ? needs.data : "?");
    text_finish(&has);
    text_finish(&needs);
    return LATHE_EIO;
}

void staging_keep(struct staging *staging) {
    free(staging->path);
    staging->path = NULL;
}

void staging_close(struct staging *staging) {
    if (staging->folder >= 0 && staging->path) {
        file_clear(staging->folder);
        rmdir(staging->path);
    }
    forget(staging);
    staging_let_signals(staging);
}

/* ---- what others have left ---- */

/* Is it a staging directory of this user? By name and owner. */
static bool is_ours(int folder, const char *name, const char *prefix) {
    struct stat info;
    return !strncmp(name, prefix, strlen(prefix)) &&
           strlen(name) == strlen(prefix) + 6 &&
           !fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) &&
           S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

int staging_sweep(const char *place, const char *prefix) {
    int count = 0;
    DIR *listing = opendir(place);
    for (const struct dirent *item; listing && (item = readdir(listing));) {
        if (!is_ours(dirfd(listing), item->d_name, prefix)) continue;
        const int folder = openat(dirfd(listing), item->d_name,
                                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0) continue;
        if (flock(folder, LOCK_EX | LOCK_NB) == 0) {
            file_clear(folder);
            if (!unlinkat(dirfd(listing), item->d_name, AT_REMOVEDIR)) count++;
        }
        close(folder);
    }
    if (listing) closedir(listing);
    return count;
}
