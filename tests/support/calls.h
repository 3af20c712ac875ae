/* SPDX-License-Identifier: MIT */
/* Calls of the C library that fail, are cut short, or are the last that the process
 * makes. These stand before the library's: include this in one file of a program, or in
 * a library that is loaded before others. */
#ifndef TESTS_SUPPORT_CALLS_H
#define TESTS_SUPPORT_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* What happens at the call whose turn it is. */
enum fault { NONE, FAIL, CUT_SHORT, INTERRUPT, SPOIL, SLEEP, KILL, TERMINATE };

static struct {
    enum fault fault;
    int number;        /* errno of FAIL */
    const char *only;  /* the name of the one function that counts; NULL: all */
    const char *under; /* count only files below this directory; NULL: all */
    bool stays;        /* all calls that take room fail from then on */
    int turn;
    atomic_int calls;
} faults;

static void plan(enum fault fault, int number, const char *only, int turn) {
    faults.number = number;
    faults.only = only;
    faults.turn = turn;
    faults.calls = 0;
    faults.stays = false;
    faults.fault = fault;
}

static inline bool is_under(const char *path) {
    const size_t length = strlen(faults.under);
    return !strncmp(path, faults.under, length) && strchr("/", path[length]);
}

/* Is it about a file that counts? `path` NULL: the file of fd itself. */
static inline bool is_counted(int fd, const char *path) {
    char link[64], folder[PATH_MAX];
    if (!faults.under) return true;
    if (path && *path == '/') return is_under(path);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const long length = syscall(SYS_readlink, link, folder, sizeof folder - 1);
    if (length < 0) return false;
    folder[length] = '\0';
    return is_under(folder);
}

static enum fault take_turn(const char *name, bool takes_room, int fd,
                            const char *path) {
    const int number = errno;
    if (faults.fault == NONE || (faults.only && strcmp(faults.only, name)) ||
        !is_counted(fd, path)) {
        errno = number;
        return NONE;
    }
    const int call = faults.calls++;
    errno = faults.fault == INTERRUPT ? EINTR : faults.number;
    if (faults.stays && takes_room && call > faults.turn) return FAIL;
    if (call != faults.turn) return NONE;
    if (faults.fault == KILL) kill(getpid(), SIGKILL);
    if (faults.fault == TERMINATE) kill(getpid(), SIGTERM);
    return faults.fault;
}

#define FAILS(name, takes_room, fd, path)                                              \
    (take_turn(name, takes_room, fd, path) == FAIL)

ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset) {
    char spoiled[16384];
    switch (take_turn("pwrite", true, fd, NULL)) {
    case FAIL:
    case INTERRUPT:
        return -1;
    case CUT_SHORT:
        return syscall(SYS_pwrite64, fd, buf, n - n / 2, offset);
    case SPOIL:
        if (n > sizeof spoiled) n = sizeof spoiled;
        memcpy(spoiled, buf, n);
        spoiled[n / 2] ^= 4;
        return syscall(SYS_pwrite64, fd, spoiled, n, offset);
    case SLEEP:
        nanosleep(&(struct timespec){1, 300000000}, NULL);
        break;
    default:
        break;
    }
    return syscall(SYS_pwrite64, fd, buf, n, offset);
}

ssize_t write(int fd, const void *buf, size_t n) {
    const enum fault fault = take_turn("write", true, fd, NULL);
    if (fault == FAIL || fault == INTERRUPT) return -1;
    return syscall(SYS_write, fd, buf, fault == CUT_SHORT ? n - n / 2 : n);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    const enum fault fault = take_turn("writev", true, fd, NULL);
    if (fault == FAIL || fault == INTERRUPT) return -1;
    if (fault != CUT_SHORT) return syscall(SYS_writev, fd, parts, count);
    return syscall(SYS_write, fd, parts->iov_base, parts->iov_len - parts->iov_len / 2);
}

int fsync(int fd) {
    return FAILS("fsync", true, fd, NULL) ? -1 : (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t length) {
    if (FAILS("ftruncate", false, fd, NULL)) return -1;
    return (int)syscall(SYS_ftruncate, fd, length);
}

int mkdir(const char *path, mode_t mode) {
    if (FAILS("mkdir", true, AT_FDCWD, path)) return -1;
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int renameat(int oldfd, const char *old, int newfd, const char *new) {
    if (FAILS("renameat", true, newfd, new)) return -1;
    return (int)syscall(SYS_renameat2, oldfd, old, newfd, new, 0);
}

int rename(const char *old, const char *new) {
    if (FAILS("rename", true, AT_FDCWD, new)) return -1;
    return (int)syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0);
}

int symlinkat(const char *from, int tofd, const char *to) {
    if (FAILS("symlinkat", true, tofd, to)) return -1;
    return (int)syscall(SYS_symlinkat, from, tofd, to);
}

int unlinkat(int fd, const char *name, int flag) {
    if (FAILS("unlinkat", false, fd, name)) return -1;
    return (int)syscall(SYS_unlinkat, fd, name, flag);
}

/* Opening takes room where it makes a file. */
int openat(int fd, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    if (FAILS("openat", flags & O_CREAT, fd, path)) return -1;
    return (int)syscall(SYS_openat, fd, path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    if (FAILS("open", flags & O_CREAT, AT_FDCWD, path)) return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#endif
