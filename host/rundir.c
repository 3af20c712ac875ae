/* SPDX-License-Identifier: MIT */
#include "rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

#define NAME_MAX_BYTES 100
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

struct made_file {
    char *path;
    int fd; /* of one that is appended to; else -1 */
};

struct rundir {
    char *path;     /* absolute; NULL: nothing is written */
    char *top_made; /* the highest directory that was made for it; NULL: none was */
    int lock;       /* the open directory */
    pthread_mutex_t mutex; /* lines come from any thread; guards the files */
    struct made_file *files;
    size_t count, capacity;
};

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

/* The highest directory on the way to an absolute path that is not there yet. */
static char *find_missing(const char *path) {
    char *part = text_copy(path);
    if (!part) return NULL;
    for (char *at = part + 1;; at++) {
        if (*at && *at != '/') continue;
        char end = *at;
        struct stat status;
        *at = '\0';
        if (stat(part, &status)) return part;
        *at = end;
        if (!end) break;
    }
    free(part);
    return NULL;
}

static lathe_status refuse(struct error *err, const char *path, const char *why) {
    fail(err, LATHE_ECREATE, "cannot make the run directory: %s", why);
    error_where(err, "%s", path);
    error_help(err, "name a directory that does not exist yet, or an empty one: "
                    "--run-dir DIR");
    return LATHE_ECREATE;
}

static lathe_status make_directory(struct rundir *rundir, struct error *err) {
    rundir->top_made = find_missing(rundir->path);
    char *parent = path_directory(rundir->path);
    if (!parent) return fail(err, LATHE_ENOMEM, "no memory for a run directory");
    lathe_status status = path_make_directories(parent, err);
    free(parent);
    if (status == LATHE_ENOMEM) return status;
    if (status) {
        char why[sizeof err->what];
        memcpy(why, err ? err->what : "", err ? sizeof why : 1);
        return refuse(err, rundir->path, why);
    }
    if (!mkdir(rundir->path, 0777)) return LATHE_OK;
    if (errno != EEXIST) return refuse(err, rundir->path, strerror(errno));
    free(rundir->top_made); /* somebody else's, even if it appeared just now */
    rundir->top_made = NULL;
    return LATHE_OK;
}

static bool is_empty(int directory) {
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    if (!list) {
        if (copy >= 0) close(copy);
        return false;
    }
    int names = 0;
    while (names < 3 && readdir(list)) names++; /* "." and ".." are there */
    closedir(list);
    return names < 3;
}

/* The lock comes before the look: of two runs that find the same empty directory, one
 * gets it. Where the file system knows no locks, there is none. */
static lathe_status take_directory(struct rundir *rundir, struct error *err) {
    rundir->lock = open(rundir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (rundir->lock < 0) return refuse(err, rundir->path, strerror(errno));
    if (flock(rundir->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return refuse(err, rundir->path, "another run is using it");
    if (!is_empty(rundir->lock)) return refuse(err, rundir->path, "it is not empty");
    if (access(rundir->path, W_OK | X_OK))
        return refuse(err, rundir->path, strerror(errno));
    return LATHE_OK;
}

lathe_status rundir_create(const char *path, struct rundir **rundir,
                           struct error *err) {
    struct rundir *made = calloc(1, sizeof *made);
    if (!made) return fail(err, LATHE_ENOMEM, "no memory for a run directory");
    made->lock = -1;
    pthread_mutex_init(&made->mutex, NULL);
    if (!path) {
        *rundir = made;
        return LATHE_OK;
    }
    lathe_status status = LATHE_ENOMEM;
    made->path = path_absolute(path);
    if (made->path)
        status = make_directory(made, err);
    else
        fail(err, status, "no memory for a run directory");
    if (made->path && status == LATHE_OK) status = take_directory(made, err);
    if (status == LATHE_OK) {
        *rundir = made;
        return LATHE_OK;
    }
    rundir_discard(made);
    rundir_close(made);
    return status;
}

const char *rundir_path(const struct rundir *rundir) {
    return rundir->path;
}

lathe_status rundir_link_latest(struct rundir *rundir, struct error *err) {
    if (!rundir->path) return LATHE_OK;
    char *parent = path_directory(rundir->path);
    bool is_wanted = parent && !strcmp(path_name(parent), "runs");
    char *latest = text_make("%s/latest", parent ? parent : "");
    char *aside = text_make("%s/.latest-%ld", parent ? parent : "", (long)getpid());
    lathe_status status = LATHE_OK;
    if (!parent || !latest || !aside) {
        status = fail(err, LATHE_ENOMEM, "no memory for a link");
    } else if (is_wanted) {
        unlink(aside);
        if (symlink(path_name(rundir->path), aside) || rename(aside, latest)) {
            status =
                fail(err, LATHE_ECREATE, "cannot switch the link: %s", strerror(errno));
            error_where(err, "%s", latest);
            unlink(aside);
        }
    }
    free(aside);
    free(latest);
    free(parent);
    return status;
}

/* ---- files ---- */

/* Finds or notes a file of the directory; NULL: out of memory. */
static struct made_file *note(struct rundir *rundir, const char *name) {
    for (size_t i = 0; i < rundir->count; i++)
        if (!strcmp(path_name(rundir->files[i].path), name)) return &rundir->files[i];
    if (rundir->count == rundir->capacity) {
        size_t capacity = rundir->capacity ? 2 * rundir->capacity : 8;
        void *files = realloc(rundir->files, capacity * sizeof *rundir->files);
        if (!files) return NULL;
        rundir->files = files;
        rundir->capacity = capacity;
    }
    char *path = path_join(rundir->path, name);
    if (!path) return NULL;
    rundir->files[rundir->count] = (struct made_file){.path = path, .fd = -1};
    return &rundir->files[rundir->count++];
}

lathe_status rundir_write(struct rundir *rundir, const char *name, const void *bytes,
                          size_t count, struct error *err) {
    if (!rundir->path) return LATHE_OK;
    pthread_mutex_lock(&rundir->mutex);
    const struct made_file *file = note(rundir, name);
    lathe_status status = file ? file_replace(file->path, bytes, count, err)
                               : fail(err, LATHE_ENOMEM, "no memory to write %s", name);
    pthread_mutex_unlock(&rundir->mutex);
    return status;
}

static lathe_status append_line(struct made_file *file, const char *line,
                                struct error *err) {
    if (file->fd < 0) {
        int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
        file->fd = open(file->path, flags, 0666);
    }
    if (file->fd < 0)
        return fail(err, LATHE_ECREATE, "%s: %s", file->path, strerror(errno));
    size_t length = strlen(line);
    struct iovec parts[2] = {{(char *)(uintptr_t)line, length},
                             {(char *)(uintptr_t) "\n", 1}};
    ssize_t written;
    do written = writev(file->fd, parts, 2);
    while (written < 0 && errno == EINTR);
    if (written == (ssize_t)length + 1) return LATHE_OK;
    int number = written < 0 ? errno : ENOSPC;
    off_t end = lseek(file->fd, 0, SEEK_END);
    bool is_torn = written > 0 && (end < written || ftruncate(file->fd, end - written));
    return fail(err, LATHE_EIO, "%s: %s%s", file->path, strerror(number),
                is_torn ? "; its last line is torn" : "");
}

lathe_status rundir_append(struct rundir *rundir, const char *name, const char *line,
                           struct error *err) {
    if (!rundir->path) return LATHE_OK;
    pthread_mutex_lock(&rundir->mutex);
    struct made_file *file = note(rundir, name);
    lathe_status status = file ? append_line(file, line, err)
                               : fail(err, LATHE_ENOMEM, "no memory to write %s", name);
    pthread_mutex_unlock(&rundir->mutex);
    return status;
}

/* ---- status.json ---- */

/* When this process began, in clock ticks since boot: with pid and boot id it names the
 * process for ever. Field 22 of stat; the second one, the program's name, may hold
 * anything and ends with the last ')'. */
static long long process_start(void) {
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t count = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (count <= 0) return 0;
    text[count] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoll(at + 1, NULL, 10) : 0;
}

static void read_boot_id(char id[37]) {
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t count = fd < 0 ? 0 : read(fd, id, 36);
    if (fd >= 0) close(fd);
    id[count > 0 ? count : 0] = '\0';
}

lathe_status rundir_write_status(struct rundir *rundir, const struct run_status *status,
                                 struct error *err) {
    if (!rundir->path) return LATHE_OK;
    char boot_id[37];
    read_boot_id(boot_id);
    struct text text = {0};
    text_add(&text, "{\"state\": ");
    text_json_string(&text, status->state);
    text_add(&text, ", \"reason\": ");
    text_json_string(&text, status->reason);
    if (status->reason)
        text_format(&text, ", \"exit_code\": %d", status->exit_code);
    else
        text_add(&text, ", \"exit_code\": null");
    text_format(&text, ", \"epoch\": %lld, \"step\": %lld", (long long)status->epoch,
                (long long)status->step);
    text_format(&text, ", \"pid\": %ld, \"boot_id\": ", (long)getpid());
    text_json_string(&text, boot_id);
    text_format(&text, ", \"start_time\": %lld}\n", process_start());
    lathe_status result =
        text.is_broken
            ? fail(err, LATHE_ENOMEM, "no memory for status.json")
            : rundir_write(rundir, "status.json", text.data, text.length, err);
    text_finish(&text);
    return result;
}

/* ---- the end ---- */

void rundir_discard(struct rundir *rundir) {
    if (!rundir || !rundir->path) return;
    for (size_t i = 0; i < rundir->count; i++) unlink(rundir->files[i].path);
    if (!rundir->top_made) return;
    size_t top = strlen(rundir->top_made);
    char *path = text_copy(rundir->path);
    while (path && !rmdir(path) && strlen(path) > top) *strrchr(path, '/') = '\0';
    free(path);
}

void rundir_close(struct rundir *rundir) {
    if (!rundir) return;
    for (size_t i = 0; i < rundir->count; i++) {
        if (rundir->files[i].fd >= 0) close(rundir->files[i].fd);
        free(rundir->files[i].path);
    }
    if (rundir->lock >= 0) close(rundir->lock);
    pthread_mutex_destroy(&rundir->mutex);
    free(rundir->files);
    free(rundir->top_made);
    free(rundir->path);
    free(rundir);
}
