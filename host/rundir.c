/* SPDX-License-Identifier: MIT */
#include "rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "rundir_parts.h"

#define NAME_MAX_BYTES 100
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

/* ---- the directory ---- */

char *rundir_default_path(const char *name) {
    char plain[NAME_MAX_BYTES + 1];
    strncpy(plain, *name ? name : "run", NAME_MAX_BYTES);
    plain[NAME_MAX_BYTES] = '\0';
    for (char *at = plain; *at; at++)
        if (!strchr(PLAIN, *at) || (at == plain && *at == '.')) *at = '-';
    for (int attempt = 0;; attempt++) {
        uint16_t random = 0;
        char stamp[17];
        struct stat status;
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
            random = (uint16_t)(getpid() + attempt);
        clock_stamp(stamp);
        char *path = text_make("runs/%s-%s-%04x", plain, stamp, random);
        if (!path || attempt == 100 || lstat(path, &status)) return path;
        free(path);
    }
}

/* How many directories at the end of an absolute path are not there yet. */
static int count_missing(const char *path) {
    struct stat status;
    char *part = text_copy(path);
    int count = 0;
    for (; part && *part && stat(part, &status); count++) *strrchr(part, '/') = '\0';
    free(part);
    return count;
}

static lathe_status refuse(struct error *err, const char *path, lathe_status status,
                           const char *why) {
    fail(err, status, "cannot make the run directory: %s", why);
    error_where(err, "%s", path);
    if (status == LATHE_ECREATE)
        error_help(err, "name a directory that does not exist yet, or an empty one: "
                        "--run-dir DIR");
    return status;
}

static lathe_status refuse_number(struct error *err, const char *path, int number) {
    return refuse(err, path, error_from_create(number), strerror(number));
}

/* Where it cannot be made, neither are those above it. */
static lathe_status make_directory(struct rundir *rundir, struct error *err) {
    char *parent = path_directory(rundir->path);
    if (!parent) return fail(err, LATHE_ENOMEM, "no memory for a run directory");
    rundir->made_count = count_missing(rundir->path);
    lathe_status status = path_make_directories(parent, err);
    free(parent);
    if (status == LATHE_ENOMEM) return status;
    if (status) return refuse(err, rundir->path, status, err ? err->what : "");
    if (mkdir(rundir->path, 0777) == 0) return LATHE_OK;
    if (errno != EEXIST) return refuse_number(err, rundir->path, errno);
    rundir->made_count = 0; /* one that is there is somebody else's */
    return LATHE_OK;
}

/* Removes what file_replace writes to, which a killed process has left half written. */
static void remove_half_written(struct rundir *rundir) {
    rewinddir(rundir->directory);
    for (const struct dirent *entry; (entry = readdir(rundir->directory)) != NULL;)
        if (!fnmatch(".*.*[0-9].tmp", entry->d_name, FNM_PERIOD))
            unlinkat(dirfd(rundir->directory), entry->d_name, 0);
}

/* Is it empty, or does it hold no more than a process leaves that was killed before its
 * run could be resumed? */
static bool is_unused(struct rundir *rundir) {
    static const char *const early[] = {"status.json", "log.txt", "experiment.json"};
    struct stat status;
    bool is_left = false;
    rewinddir(rundir->directory);
    for (const struct dirent *entry; (entry = readdir(rundir->directory)) != NULL;) {
        bool is_early = false;
        for (size_t i = 0; i < sizeof early / sizeof *early; i++)
            if (!strcmp(entry->d_name, early[i])) is_early = true;
        if (!is_early && path_is_plain_name(entry->d_name)) return false;
        is_left |= is_early;
    }
    return !is_left || (!fstatat(dirfd(rundir->directory), "status.json", &status,
                                 AT_SYMLINK_NOFOLLOW) &&
                        S_ISREG(status.st_mode) && status.st_size == RUN_STATUS_BYTES);
}

/* The lock comes before the look: of two runs that find the same empty directory, one
 * gets it. Where the file system knows no locks, there is none. */
static lathe_status take_directory(struct rundir *rundir, struct error *err) {
    rundir->directory = opendir(rundir->path);
    if (!rundir->directory) return refuse_number(err, rundir->path, errno);
    if (flock(dirfd(rundir->directory), LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return refuse(err, rundir->path, LATHE_ECREATE, "another run is using it");
    remove_half_written(rundir);
    if (!is_unused(rundir))
        return refuse(err, rundir->path, LATHE_ECREATE, "it is not empty");
    if (access(rundir->path, W_OK | X_OK))
        return refuse_number(err, rundir->path, errno);
    return LATHE_OK;
}

lathe_status rundir_create(const char *path, struct rundir **rundir,
                           struct error *err) {
    struct rundir *made = calloc(1, sizeof *made);
    if (!made) return fail(err, LATHE_ENOMEM, "no memory for a run directory");
    lathe_status status = LATHE_OK;
    pthread_mutex_init(&made->mutex, NULL);
    if (path) {
        made->path = path_absolute(path);
        status = made->path ? make_directory(made, err) : path_fail(err);
        if (!status) status = take_directory(made, err);
        if (!status)
            status = rundir_write_status(made, &(struct run_status){.state = "running"},
                                         err);
    }
    if (!status) {
        *rundir = made;
        return LATHE_OK;
    }
    rundir_discard(made);
    rundir_close(made);
    return status;
}

static lathe_status refuse_run(struct error *err, const char *path, lathe_status status,
                               const char *why) {
    fail(err, status, "cannot go on with this run: %s", why);
    error_where(err, "%s", path);
    return status;
}

static lathe_status take_again(struct rundir *rundir, struct error *err) {
    const char *path = rundir->path;
    rundir->directory = opendir(path);
    if (!rundir->directory)
        return refuse_run(err, path, error_from_errno(errno), strerror(errno));
    if (faccessat(dirfd(rundir->directory), "resolved.json", F_OK, 0)) {
        refuse_run(err, path, LATHE_ENOTFOUND, "there is no resolved.json in it");
        if (!faccessat(dirfd(rundir->directory), "latest/resolved.json", F_OK, 0))
            error_help(err, "name one of the runs in it, such as %s/latest", path);
        else
            error_help(err, "a run that never began can be begun again: lathe run "
                            "EXPERIMENT --run-dir DIR");
        return LATHE_ENOTFOUND;
    }
    if (flock(dirfd(rundir->directory), LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return refuse_run(err, path, LATHE_ECREATE, "another process is at it");
    if (access(path, W_OK | X_OK))
        return refuse_run(err, path, error_from_create(errno), strerror(errno));
    remove_half_written(rundir);
    return LATHE_OK;
}

lathe_status rundir_reopen(const char *path, struct rundir **rundir,
                           struct error *err) {
    struct rundir *made = calloc(1, sizeof *made);
    if (!made) return fail(err, LATHE_ENOMEM, "no memory for a run directory");
    pthread_mutex_init(&made->mutex, NULL);
    made->is_reopened = true;
    made->path = realpath(path, NULL); /* `latest` is a link, which will be switched */
    lathe_status status =
        made->path ? take_again(made, err)
                   : refuse_run(err, path, error_from_errno(errno), strerror(errno));
    if (status == LATHE_OK)
        *rundir = made;
    else
        rundir_close(made);
    return status;
}

const char *rundir_path(const struct rundir *rundir) {
    return rundir->path;
}

static bool leads_to(const char *link, const char *name) {
    char target[NAME_MAX + 1];
    const ssize_t length = readlink(link, target, sizeof target);
    return length == (ssize_t)strlen(name) && !memcmp(target, name, (size_t)length);
}

lathe_status rundir_link_latest(struct rundir *rundir, struct error *err) {
    if (!rundir->path) return LATHE_OK;
    const char *name = path_name(rundir->path);
    int length = (int)(name - rundir->path); /* of the parent, with its slash */
    if (length < 6 || memcmp(name - 6, "/runs/", 6) != 0) return LATHE_OK;
    char *latest = text_make("%.*slatest", length, rundir->path);
    char *aside = text_make("%.*s.latest-%ld", length, rundir->path, (long)getpid());
    lathe_status status = LATHE_OK;
    if (!latest || !aside) {
        status = fail(err, LATHE_ENOMEM, "no memory for a link");
    } else if (leads_to(latest, name)) {
        status = LATHE_OK;
    } else if (unlink(aside), symlink(name, aside) || rename(aside, latest)) {
        status = fail(err, error_from_create(errno), "cannot switch the link: %s",
                      strerror(errno));
        error_where(err, "%s", latest);
        unlink(aside);
    }
    free(aside);
    free(latest);
    return status;
}

/* ---- files ---- */

/* Notes a file, for rundir_discard. */
static void note(struct rundir *rundir, const char *name) {
    struct text *files = &rundir->files;
    for (size_t at = 0; at < files->length; at += strlen(files->data + at) + 1)
        if (strcmp(files->data + at, name) == 0) return;
    text_add_bytes(files, name, strlen(name) + 1);
}

typedef lathe_status replace_file(const char *path, const void *bytes, size_t count,
                                  struct error *err);

static lathe_status write_by(replace_file *replace, struct rundir *rundir,
                             const char *name, const void *bytes, size_t count,
                             struct error *err) {
    if (!rundir->path) return LATHE_OK;
    char *path = path_join(rundir->path, name);
    if (!path) return fail(err, LATHE_ENOMEM, "no memory to write %s", name);
    pthread_mutex_lock(&rundir->mutex);
    note(rundir, name);
    lathe_status status = replace(path, bytes, count, err);
    if (status) error_where(err, "%s", rundir->path);
    pthread_mutex_unlock(&rundir->mutex);
    free(path);
    return status;
}

lathe_status rundir_write(struct rundir *rundir, const char *name, const void *bytes,
                          size_t count, struct error *err) {
    return write_by(file_replace, rundir, name, bytes, count, err);
}

lathe_status rundir_write_unsynced(struct rundir *rundir, const char *name,
                                   const void *bytes, size_t count, struct error *err) {
    return write_by(file_replace_unsynced, rundir, name, bytes, count, err);
}

/* A write that was cut short does not say why: the next one does. */
static lathe_status write_line(int fd, const char *name, const char *line,
                               struct error *err) {
    const size_t length = strlen(line);
    size_t done = 0;
    int number = 0;
    while (done <= length && !number) {
        struct iovec parts[2] = {{(char *)(uintptr_t)line + done, length - done},
                                 {(char *)(uintptr_t) "\n", 1}};
        ssize_t written = writev(fd, parts, 2);
        if (written > 0)
            done += (size_t)written;
        else if (written == 0 || errno != EINTR)
            number = written ? errno : EIO;
    }
    if (!number) return LATHE_OK;
    off_t end = done ? lseek(fd, 0, SEEK_END) : 0;
    bool is_torn = end < (off_t)done || (done && ftruncate(fd, end - (off_t)done));
    return fail(err, LATHE_EIO, "%s: %s%s", name, strerror(number),
                is_torn ? "; its last line is torn" : "");
}

lathe_status rundir_append(struct rundir *rundir, const char *name, const char *line,
                           struct error *err) {
    if (!rundir->path) return LATHE_OK;
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    pthread_mutex_lock(&rundir->mutex);
    note(rundir, name);
    int fd = file_keep_clear(openat(dirfd(rundir->directory), name, flags, 0666));
    lathe_status status =
        fd < 0 ? fail(err, error_from_create(errno), "%s: %s", name, strerror(errno))
               : write_line(fd, name, line, err);
    if (fd >= 0 && close(fd) && !status)
        status = fail(err, LATHE_EIO, "%s: %s", name, strerror(errno));
    if (status) error_where(err, "%s", rundir->path);
    pthread_mutex_unlock(&rundir->mutex);
    return status;
}

int64_t rundir_length(const struct rundir *rundir, const char *name) {
    struct stat status;
    if (!rundir->path || fstatat(dirfd(rundir->directory), name, &status, 0)) return 0;
    return status.st_size;
}

int rundir_descriptor(const struct rundir *rundir, const char *name) {
    const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
    if (!rundir->path) return -1;
    return file_keep_clear(openat(dirfd(rundir->directory), name, flags));
}

lathe_status rundir_cut(struct rundir *rundir, const char *name, int64_t length,
                        struct error *err) {
    const int64_t found = rundir_length(rundir, name);
    lathe_status status = LATHE_OK;
    if (found < length) {
        status = fail(err, LATHE_EDATA, "%s has %lld bytes, and had %lld when saved",
                      name, (long long)found, (long long)length);
    } else if (found > length) {
        int fd = rundir_descriptor(rundir, name);
        if (fd < 0 || ftruncate(fd, length))
            status = fail(err, LATHE_EIO, "%s: %s", name, strerror(errno));
        if (fd >= 0) close(fd);
    }
    if (status) error_where(err, "%s", rundir->path);
    return status;
}

void rundir_remove(struct rundir *rundir, const char *name) {
    if (rundir->path) unlinkat(dirfd(rundir->directory), name, 0);
}

/* ---- the end ---- */

void rundir_discard(struct rundir *rundir) {
    if (!rundir || !rundir->path || rundir->is_reopened) return;
    const struct text *files = &rundir->files;
    for (size_t at = 0; at < files->length; at += strlen(files->data + at) + 1)
        unlinkat(dirfd(rundir->directory), files->data + at, 0);
    char *path = text_copy(rundir->path);
    for (; path && rundir->made_count; rundir->made_count--) {
        if (rmdir(path) && errno != ENOENT && errno != ENAMETOOLONG) break;
        *strrchr(path, '/') = '\0';
    }
    free(path);
}

void rundir_close(struct rundir *rundir) {
    if (!rundir) return;
    if (rundir->directory) closedir(rundir->directory);
    pthread_mutex_destroy(&rundir->mutex);
    text_finish(&rundir->files);
    free(rundir->path);
    free(rundir);
}
