/* SPDX-License-Identifier: MIT */
#include "commands/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"

/* A name of what this process was given open; -1: it is none. To open such a name anew
 * would write from the beginning of what stands behind it. */
static int given_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (!strcmp(path, "/dev/stdout")) return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr")) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t length = strlen(folders[i]);
        char *end = NULL;
        if (strncmp(path, folders[i], length) != 0) continue;
        const long number = strtol(path + length, &end, 10);
        if (end != path + length && !*end && number >= 0 && number < 1 << 20)
            return (int)number;
    }
    return -1;
}

/* By its first line; an empty file will do as well. */
static bool is_trace(int fd) {
    char start[128] = "";
    const ssize_t count = pread(fd, start, sizeof start - 1, 0);
    start[strcspn(start, "\n")] = '\0';
    const char *epoch = strstr(start, " epoch=");
    return !count || (count > 0 && epoch && strstr(epoch, " step="));
}

/* Of a file that is not there: could it be? Returns errno, or 0. */
static int check_parent(const char *path) {
    struct stat info;
    if (!lstat(path, &info)) return ENOENT; /* a link to nothing */
    char *folder = path_directory(path);
    const int number = !folder ? ENOMEM : access(folder, W_OK | X_OK) ? errno : 0;
    free(folder);
    return number;
}

/* Returns errno, or 0; *is_other: there is a file, and it is no trace. */
static int open_there(struct trace *trace, bool *is_other) {
    struct stat info;
    const int given = given_descriptor(trace->path);
    if (given < 0 && stat(trace->path, &info))
        return errno == ENOENT ? check_parent(trace->path) : errno;
    trace->is_regular = given < 0 && S_ISREG(info.st_mode);
    const int access_mode = trace->is_regular ? O_RDWR : O_WRONLY;
    trace->fd =
        given >= 0
            ? fcntl(given, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
            : file_keep_clear(open(trace->path, access_mode | O_CLOEXEC | O_NOCTTY));
    if (trace->fd < 0) return errno;
    *is_other = trace->is_regular && !is_trace(trace->fd);
    return 0;
}

static lathe_status refuse(const struct trace *trace, struct error *err) {
    error_where(err, "%s", trace->path);
    error_help(err, "name another file for the trace, outside of what is read");
    return err->status;
}

lathe_status trace_open(struct trace *trace, const char *const *kept, size_t count,
                        struct error *err) {
    bool is_other = false;
    if (!trace->path) return LATHE_OK;
    for (size_t i = 0; i < count && given_descriptor(trace->path) < 0; i++) {
        if (!kept[i] || !file_is_inside(trace->path, kept[i])) continue;
        fail(err, LATHE_ECREATE, "the trace would be inside the run \"%.300s\"",
             kept[i]);
        return refuse(trace, err);
    }
    const int number = open_there(trace, &is_other);
    if (!number && !is_other) return LATHE_OK;
    trace_close(trace, NULL);
    if (is_other) {
        fail(err, LATHE_ECREATE, "it is there, and is no trace");
        return refuse(trace, err);
    }
    fail(err, error_from_create(number), "cannot make the trace: %s", strerror(number));
    error_where(err, "%s", trace->path);
    return err->status;
}

bool trace_begin(struct trace *trace) {
    if (!trace->path) return true;
    if (trace->fd <= 0)
        trace->fd = file_keep_clear(
            open(trace->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    else if (trace->is_regular && ftruncate(trace->fd, 0))
        trace->number = errno;
    trace->file = trace->fd > 0 ? fdopen(trace->fd, "w") : NULL;
    if (trace->file)
        trace->fd = 0;
    else
        trace->number = errno;
    return !trace->number;
}

bool trace_add(struct trace *trace, const char *line) {
    errno = 0;
    if (!trace->number && fprintf(trace->file, "%s\n", line) < 0)
        trace->number = errno ? errno : EIO;
    return !trace->number;
}

lathe_status trace_close(struct trace *trace, struct error *err) {
    if (trace->fd > 0) close(trace->fd);
    trace->fd = 0;
    errno = 0;
    if (trace->file && fclose(trace->file) && !trace->number)
        trace->number = errno ? errno : EIO;
    trace->file = NULL;
    if (!trace->number) return LATHE_OK;
    fail(err, LATHE_EIO, "cannot write the trace: %s", strerror(trace->number));
    error_where(err, "%s", trace->path);
    return LATHE_EIO;
}
