/* SPDX-License-Identifier: MIT */
/* Options that name files: relative to the experiment's directory, and there. */
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "experiment_parts.h"

void experiment_check_file(struct opening *opening, const char *path,
                           struct json *value) {
    const char *given = json_text(value);
    if (given[0] == '\0') {
        experiment_fault(opening, LATHE_EINVAL, path, "an empty string names no file");
        return;
    }
    char *joined = path_join(opening->experiment->directory, given);
    char *absolute = experiment_keep(opening, joined ? path_absolute(joined) : NULL);
    free(joined);
    if (!absolute) return;

    struct error err = {0};
    int fd = -1;
    if (file_open(absolute, &fd, NULL, &err) == LATHE_OK) {
        close(fd);
    } else {
        error_where(&err, "%.*s: %s", EXPERIMENT_FILE_SHOWN, opening->experiment->file,
                    path);
        if (err.help[0] == '\0' && given[0] != '/')
            error_help(&err, "the path is relative to %s",
                       opening->experiment->directory);
        *errors_add(opening->errors) = err;
    }
    struct pending_path *paths =
        realloc(opening->paths, (opening->path_count + 1) * sizeof *paths);
    if (!paths) {
        opening->is_broken = true;
        free(absolute);
        return;
    }
    opening->paths = paths;
    paths[opening->path_count++] = (struct pending_path){value, absolute};
}

static bool replace(struct json *within, const struct pending_path *path) {
    for (size_t i = 0; i < json_size(within); i++) {
        struct json *item = json_at(within, i);
        if (item == path->value)
            return json_kind(within) == JSON_LIST
                       ? json_replace_at(within, i, json_make_text(path->absolute))
                       : json_put(within, json_key_at(within, i),
                                  json_make_text(path->absolute));
        if (json_size(item) > 0 && replace(item, path)) return true;
    }
    return false;
}

void experiment_put_absolute_paths(struct opening *opening) {
    for (size_t i = 0; i < opening->path_count; i++)
        if (!replace(opening->experiment->resolved, &opening->paths[i]))
            opening->is_broken = true;
}
