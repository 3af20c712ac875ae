/* SPDX-License-Identifier: MIT */
#include "path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"

char *path_join(const char *directory, const char *name) {
    if (name[0] == '/' || !directory[0]) return text_copy(name);
    const char *slash = directory[strlen(directory) - 1] == '/' ? "" : "/";
    return text_make("%s%s%s", directory, slash, name);
}

/* Takes "." and doubled slashes out of an absolute path, in place. */
static void tidy(char *path) {
    char *to = path;
    for (const char *from = path; *from;) {
        while (*from == '/') from++;
        size_t length = strcspn(from, "/");
        if (length && !(length == 1 && from[0] == '.')) {
            *to++ = '/';
            memmove(to, from, length);
            to += length;
        }
        from += length;
    }
    if (to == path) *to++ = '/';
    *to = '\0';
}

char *path_absolute(const char *path) {
    char *absolute;
    if (path[0] == '/') {
        absolute = text_copy(path);
    } else {
        char *here = getcwd(NULL, 0);
        absolute = here ? path_join(here, path) : NULL;
        free(here);
    }
    if (absolute) tidy(absolute);
    return absolute;
}

lathe_status path_fail(struct error *err) {
    char *here = getcwd(NULL, 0);
    const bool is_gone = !here && errno == ENOENT;
    free(here);
    if (!is_gone) return fail(err, LATHE_ENOMEM, "no memory for a path");
    fail(err, LATHE_ENOTFOUND, "the working directory is gone");
    error_help(err, "somebody has removed it; go to one that is there: cd /");
    return LATHE_ENOTFOUND;
}

char *path_directory(const char *path) {
    size_t length = (size_t)(path_name(path) - path);
    while (length > 1 && path[length - 1] == '/') length--;
    return length ? strndup(path, length) : text_copy(".");
}

char *path_hide_home(const char *path) {
    const char *home = getenv("HOME");
    size_t length = home ? strlen(home) : 0;
    while (length > 0 && home[length - 1] == '/') length--;
    bool is_under = length > 0 && !strncmp(path, home, length) && path[length] == '/';
    return is_under ? text_make("~%s", path + length) : text_copy(path);
}

const char *path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_of_program(void) {
    char link[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", link, sizeof link - 1);
    if (length <= 0) return NULL;
    link[length] = '\0';
    return path_directory(link);
}

char *path_xdg(const char *what) {
    static const char *const kinds[][3] = {
        {"config", "XDG_CONFIG_HOME", ".config"},
        {"data", "XDG_DATA_HOME", ".local/share"},
        {"state", "XDG_STATE_HOME", ".local/state"},
        {"cache", "XDG_CACHE_HOME", ".cache"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(what, kinds[i][0]) != 0) continue;
        const char *given = secure_getenv(kinds[i][1]), *home = secure_getenv("HOME");
        if (given && given[0] == '/') return text_copy(given);
        return home && home[0] == '/' ? path_join(home, kinds[i][2]) : NULL;
    }
    return NULL;
}

bool path_is_plain_name(const char *name) {
    return name[0] && !strchr(name, '/') && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

static lathe_status make_directory(const char *path, struct error *err) {
    if (mkdir(path, 0777) == 0) return LATHE_OK;
    int number = errno;
    struct stat info;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return LATHE_OK;
        return fail(err, LATHE_ECREATE,
                    "cannot create the directory \"%.400s\": a file has that name",
                    path);
    }
    return fail(err, error_from_create(number),
                "cannot create the directory \"%.400s\": %s", path, strerror(number));
}

lathe_status path_make_directories(const char *path, struct error *err) {
    char *copy = text_copy(path);
    if (!copy) return fail(err, LATHE_ENOMEM, "no memory for a path");
    lathe_status status = LATHE_OK;
    for (char *at = copy; !status && *at;) {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        char end = *at;
        *at = '\0';
        status = make_directory(copy, err);
        *at = end;
    }
    free(copy);
    return status;
}
