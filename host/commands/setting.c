/* SPDX-License-Identifier: MIT */
#include "commands/setting.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "json.h"

struct search {
    struct nearest nearest;
    char *path; /* of the best so far */
};

/* Takes `path` over. `name` is its end, or all of it. */
static void offer(struct search *search, char *path, const char *name) {
    const size_t before = search->nearest.distance;
    nearest_offer(&search->nearest, name);
    if (search->nearest.distance == before) {
        free(path);
        return;
    }
    free(search->path);
    search->path = path;
}

static void look_below(struct search *search, const struct json *value,
                       const char *path) {
    for (size_t i = 0; i < json_size(value); i++) {
        const bool is_map = json_kind(value) == JSON_MAP;
        const struct json *inner = json_at(value, i);
        char *here =
            is_map ? text_make("%s%s%s", path, *path ? "." : "", json_key_at(value, i))
                   : text_make("%s.%zu", path, i);
        if (here && is_map && !json_size(inner)) {
            offer(search, text_copy(here), json_key_at(value, i));
            offer(search, text_copy(here), here);
        }
        if (here) look_below(search, inner, here);
        free(here);
    }
}

char *setting_near(const char *file, const char *word) {
    struct search search = {.path = NULL};
    struct json *root = NULL;
    if (json_read(file, &root, NULL) != LATHE_OK) return NULL;
    nearest_begin(&search.nearest, word);
    look_below(&search, root, "");
    json_close(root);
    return search.path;
}
