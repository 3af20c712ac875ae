/* SPDX-License-Identifier: MIT */
#include "bundle/aside.h"

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

#define RESERVE_BYTES ((int64_t)16 << 20) /* that are left for others */
#define TRIES 16

/* ---- signals ---- */

/* Held back rather than caught: no handler has to know of a folder. What is ignored, as
 * under nohup, stays so. */
static void hold_signals(struct aside *aside) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    sigemptyset(&aside->ends);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        if (!sigaction(numbers[i], NULL, &action) && action.sa_handler != SIG_IGN)
            sigaddset(&aside->ends, numbers[i]);
    }
    aside->is_deaf = !pthread_sigmask(SIG_BLOCK, &aside->ends, &aside->before);
}

bool aside_is_told(const struct aside *aside) {
    sigset_t waiting;
    if (!aside->is_deaf || sigpending(&waiting)) return false;
    return (sigismember(&aside->ends, SIGHUP) && sigismember(&waiting, SIGHUP)) ||
           (sigismember(&aside->ends, SIGINT) && sigismember(&waiting, SIGINT)) ||
           (sigismember(&aside->ends, SIGTERM) && sigismember(&waiting, SIGTERM));
}

/* ---- one ---- */

/* Is the open folder still there? A sweep may have had it before it was locked. */
static bool is_there(const struct aside *aside) {
    struct stat open, named;
    return fstat(aside->folder, &open) == 0 && lstat(aside->path, &named) == 0 &&
           file_is_same(&open, &named);
}

/* Where there are no locks, nobody sweeps either. */
static bool lock(int folder) {
    return !flock(folder, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK;
}

static void forget(struct aside *aside) {
    if (aside->folder >= 0) close(aside->folder);
    free(aside->path);
    aside->path = NULL;
    aside->folder = -1;
}

/* Makes one; false with errno. */
static bool make(const char *place, const char *kind, struct aside *aside) {
    for (int tries = 0; tries < TRIES; tries++) {
        aside->path = text_make("%s/%sXXXXXX", place, kind);
        if (!aside->path || !mkdtemp(aside->path)) return false;
        aside->folder = open(aside->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (aside->folder >= 0 && lock(aside->folder) && is_there(aside)) return true;
        forget(aside);
    }
    errno = EAGAIN;
    return false;
}

lathe_status aside_open(const char *place, const char *kind, struct aside *aside,
                        struct error *err) {
    *aside = (struct aside)ASIDE_NONE;
    hold_signals(aside);
    if (make(place, kind, aside)) return LATHE_OK;
    const int number = errno;
    forget(aside);
    aside_close(aside);
    return fail(err, error_from_create(number), "cannot write in \"%.400s\": %s", place,
                strerror(number));
}

lathe_status aside_check_room(const struct aside *aside, const char *place,
                              int64_t bytes, struct error *err) {
    struct statvfs system;
    struct text has = {0}, needs = {0};
    if (fstatvfs(aside->folder, &system) || !system.f_blocks) return LATHE_OK;
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

void aside_keep(struct aside *aside) {
    free(aside->path);
    aside->path = NULL;
}

void aside_close(struct aside *aside) {
    if (aside->folder >= 0 && aside->path) {
        file_clear(aside->folder);
        rmdir(aside->path);
    }
    forget(aside);
    if (aside->is_deaf) pthread_sigmask(SIG_SETMASK, &aside->before, NULL);
    aside->is_deaf = false;
}

/* ---- those of others ---- */

/* One of ours, by its name and its owner. */
static bool is_ours(int folder, const char *name, const char *kind) {
    struct stat info;
    return !strncmp(name, kind, strlen(kind)) && strlen(name) == strlen(kind) + 6 &&
           !fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) &&
           S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

int aside_sweep(const char *place, const char *kind) {
    int count = 0;
    DIR *listing = opendir(place);
    for (const struct dirent *item; listing && (item = readdir(listing));) {
        if (!is_ours(dirfd(listing), item->d_name, kind)) continue;
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
