/* SPDX-License-Identifier: MIT */
/* The weights to begin from: which file, which of its tensors, by which names. */
#include <string.h>

#include "experiment_parts.h"

static size_t count_stars(const char *name) {
    size_t count = 0;
    for (; *name; name++) count += *name == '*';
    return count;
}

static void check_rename(struct opening *opening, const struct json *rename) {
    for (size_t i = 0; i < json_size(rename); i++) {
        const char *from = json_key_at(rename, i);
        const struct json *value = json_at(rename, i);
        const char *to = json_text(value);
        char path[384];
        snprintf(path, sizeof path, "start.rename.%s", from);
        if (json_kind(value) != JSON_TEXT)
            experiment_fault(opening, path, "", "a name was expected, found %s",
                             json_kind_name(json_kind(value)));
        else if (!*from || !*to)
            experiment_fault(opening, path, "", "a name is empty");
        else if (count_stars(from) > 1 || count_stars(from) != count_stars(to))
            experiment_fault(
                opening, path, "for example \"encoder.*\": \"trunk.*\", or two names",
                "\"%s\" and \"%s\" must have one * each, or none", from, to);
    }
}

void experiment_check_start(struct opening *opening) {
    struct json *start = json_get(opening->experiment->resolved, "start");
    struct json *weights = json_get(start, "weights");
    const struct json *rename = json_get(start, "rename");
    if (json_kind(weights) == JSON_TEXT && opening->has_begun)
        experiment_resolve_path(opening, weights);
    else if (json_kind(weights) == JSON_TEXT)
        experiment_check_file(opening, "start.weights", weights);
    if (json_kind(rename) == JSON_MAP) check_rename(opening, rename);
}

void experiment_read_start(struct experiment *experiment) {
    const struct json *start = json_get(experiment->resolved, "start");
    if (!start) return;
    experiment->start =
        (struct start_settings){.weights = json_text(json_get(start, "weights")),
                                .only = json_text(json_get(start, "only")),
                                .rename = json_get(start, "rename")};
}
