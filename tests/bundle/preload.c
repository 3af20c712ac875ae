/* SPDX-License-Identifier: MIT */
/* To be loaded before others: what a machine does at its worst.
 *
 *     KILL_AT=n    the process is killed before its n-th call that changes the file
 *                  system under UNDER: by SIGKILL, or the signal KILL_WITH
 *     FULL_AT=n    from its n-th write on, there is no space left there
 *     SHUFFLE=n    directories are read in another order for each n */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int kill_at, kill_with = SIGKILL, full_at;
static int changes, writes;
static const char *under;

__attribute__((constructor)) static void begin(void) {
    const char *kill = getenv("KILL_AT"), *full = getenv("FULL_AT");
    if (getenv("KILL_WITH")) kill_with = atoi(getenv("KILL_WITH"));
    kill_at = kill ? atoi(kill) : 0;
    full_at = full ? atoi(full) : 0;
    under = getenv("UNDER");
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Is it an open file, or a folder, under UNDER? */
static int is_under(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (!under || length <= 0) return 0;
    path[length] = '\0';
    return strstr(path, under) != NULL;
}

static int is_path_under(int folder, const char *path) {
    if (*path == '/') return under && strstr(path, under);
    return is_under(folder);
}

static void note_change(int is_there) {
    if (is_there && ++changes == kill_at) raise(kill_with);
}

int openat(int folder, const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
        note_change(is_path_under(folder, path));
    }
    return REAL(openat)(folder, path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t count) {
    const int is_there = is_under(fd);
    note_change(is_there);
    if (is_there && full_at && ++writes >= full_at) {
        errno = ENOSPC;
        return -1;
    }
    return REAL(write)(fd, bytes, count);
}

int mkdirat(int folder, const char *path, mode_t mode) {
    note_change(is_path_under(folder, path));
    return REAL(mkdirat)(folder, path, mode);
}

int mkdir(const char *path, mode_t mode) {
    note_change(is_path_under(-1, path));
    return REAL(mkdir)(path, mode);
}

char *mkdtemp(char *path) {
    note_change(is_path_under(-1, path));
    return REAL(mkdtemp)(path);
}

int fchmod(int fd, mode_t mode) {
    note_change(is_under(fd));
    return REAL(fchmod)(fd, mode);
}

int fsync(int fd) {
    note_change(is_under(fd));
    return REAL(fsync)(fd);
}

int unlinkat(int folder, const char *path, int flags) {
    note_change(is_path_under(folder, path));
    return REAL(unlinkat)(folder, path, flags);
}

int rename(const char *from, const char *to) {
    note_change(is_path_under(-1, to));
    const int result = REAL(rename)(from, to);
    const int number = errno;
    note_change(is_path_under(-1, to)); /* and right behind it */
    errno = number;
    return result;
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    note_change(is_path_under(to_folder, to));
    return REAL(renameat)(from_folder, from, to_folder, to);
}

/* ---- the order of a directory ---- */

#define ENTRIES_MAX 512

static struct listing {
    DIR *of;
    struct dirent *entries[ENTRIES_MAX];
    int count, next;
} listings[64];

static void fill(struct listing *listing, DIR *of) {
    const char *seed = getenv("SHUFFLE");
    unsigned state = (unsigned)atoi(seed) * 2654435761u + 1;
    struct dirent *entry;
    *listing = (struct listing){.of = of};
    while (listing->count < ENTRIES_MAX && (entry = REAL(readdir)(of)) != NULL) {
        struct dirent *copy = malloc(sizeof *copy);
        memcpy(copy, entry, entry->d_reclen);
        listing->entries[listing->count++] = copy;
    }
    for (int i = listing->count - 1; i > 0; i--) {
        state = state * 1664525u + 1013904223u;
        const int other = (int)((state >> 8) % (unsigned)(i + 1));
        struct dirent *kept = listing->entries[i];
        listing->entries[i] = listing->entries[other];
        listing->entries[other] = kept;
    }
}

struct dirent *readdir(DIR *of) {
    if (!getenv("SHUFFLE")) return REAL(readdir)(of);
    struct listing *listing = NULL;
    for (int i = 0; i < 64 && !listing; i++)
        if (listings[i].of == of || !listings[i].of) listing = &listings[i];
    if (!listing) return REAL(readdir)(of);
    if (listing->of != of) fill(listing, of);
    return listing->next < listing->count ? listing->entries[listing->next++] : NULL;
}

struct dirent64 *readdir64(DIR *of) {
    return (struct dirent64 *)readdir(of);
}

int closedir(DIR *of) {
    for (int i = 0; i < 64; i++)
        if (listings[i].of == of) listings[i] = (struct listing){0};
    return REAL(closedir)(of);
}
