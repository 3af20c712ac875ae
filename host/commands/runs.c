/* SPDX-License-Identifier: MIT */
#include "commands/runs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "json.h"
#include "rundir.h"

#define SOURCE_MAX ((size_t)64 << 20)

static bool is_directory(const char *path) {
    struct stat status;
    return path && !stat(path, &status) && S_ISDIR(status.st_mode);
}

int runs_path(const char *word, char **path, struct error *err) {
    char *below = text_make("runs/%s", word);
    *path = NULL;
    if (is_directory(word))
        *path = text_copy(word);
    else if (!strchr(word, '/') && is_directory(below))
        *path = text_copy(below);
    free(below);
    if (*path) return 0;
    fail(err, LATHE_ENOTFOUND, "there is no such run");
    error_where(err, "%s", word);
    error_help(err,
               "name the run's directory, or its name under runs/, such as latest");
    return error_exit_code(LATHE_ENOTFOUND);
}

char *runs_named(const char *word) {
    char *path = NULL;
    if (access(word, F_OK) || is_directory(word)) runs_path(word, &path, NULL);
    if (path && runs_is_run(path)) return path;
    free(path);
    return NULL;
}

bool runs_is_run(const char *directory) {
    char *path = path_join(directory, "resolved.json");
    bool is_there = path && !access(path, F_OK);
    free(path);
    return is_there;
}

char *runs_of(const char *file) {
    char *folder = file ? path_directory(file) : NULL;
    if (folder && !strcmp(path_name(folder), "checkpoints")) {
        char *above = path_directory(folder);
        free(folder);
        folder = above;
    }
    if (folder && *file != '{' && runs_is_run(folder)) return folder;
    free(folder);
    return NULL;
}

/* Its own process holds the lock of its directory; the dead hold none. */
bool runs_is_busy(const char *run) {
    int fd = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_busy = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
    if (fd >= 0) close(fd);
    return is_busy;
}

static bool is_finished(const char *run) {
    struct json *status;
    rundir_read_json(run, "status.json", &status, NULL);
    const char *reason = json_text(json_get(status, "reason"));
    bool is_over = !strcmp(reason, "completed") || !strcmp(reason, "stopped");
    json_close(status);
    return is_over;
}

/* When it began: experiment.json is written once. Without resolved.json it never
 * did. */
static bool is_of(const char *run, const char *source, size_t length,
                  struct timespec *began) {
    char *path = path_join(run, "experiment.json"), *content = NULL;
    size_t found = 0;
    struct stat status;
    bool is_same = path && runs_is_run(run) && !stat(path, &status) &&
                   file_read(path, SOURCE_MAX, &content, &found, NULL) == LATHE_OK &&
                   found == length && !memcmp(content, source, length);
    if (is_same) *began = status.st_mtim;
    free(content);
    free(path);
    return is_same;
}

static bool is_later(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

char *runs_find_unfinished(const char *experiment) {
    char *source = NULL, *newest = NULL;
    size_t length = 0;
    struct timespec latest = {0}, began;
    DIR *runs = opendir("runs");
    if (!runs ||
        file_read(experiment, SOURCE_MAX, &source, &length, NULL) != LATHE_OK) {
        if (runs) closedir(runs);
        return NULL;
    }
    for (const struct dirent *entry; (entry = readdir(runs)) != NULL;) {
        if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "latest")) continue;
        char *run = path_join("runs", entry->d_name);
        if (run && is_of(run, source, length, &began) && is_later(&began, &latest) &&
            !is_finished(run) && !runs_is_busy(run)) {
            free(newest);
            newest = run;
            latest = began;
            run = NULL;
        }
        free(run);
    }
    closedir(runs);
    free(source);
    return newest;
}
