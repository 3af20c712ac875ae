/* SPDX-License-Identifier: MIT */
/* Every { "use": … } of an experiment: which plugin it names, and whether its options
 * fit that plugin's manifest. Nested ones are found while the outer one is checked. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/path.h"
#include "experiment_parts.h"

/* The hook that options calls for formats it does not know. */
struct visit {
    struct opening *opening;
    struct use *use;
};

struct place {
    uint32_t kind;
    const char *path;
    const char *id;     /* when the file gives none; NULL: the plugin's name */
    const char *option; /* nested, else NULL */
};

static void open_use(struct opening *opening, struct json *object,
                     const struct place *place, struct use *use);

/* Letters, digits, '-' and '_', and not digits alone: can be a part of any path. */
static bool is_word(const char *name) {
    bool is_number = true;
    for (const char *c = name; *c != '\0'; c++) {
        const bool is_digit = *c >= '0' && *c <= '9';
        const bool is_letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        if (!is_digit && !is_letter && *c != '-' && *c != '_') return false;
        is_number = is_number && is_digit;
    }
    return !is_number;
}

static void open_nested(const struct visit *visit, uint32_t kind, const char *path,
                        struct json *value) {
    struct opening *opening = visit->opening;
    struct use *outer = visit->use;
    const char *dotted = path + strlen(outer->path) + 1;
    if (json_kind(value) != JSON_MAP) {
        experiment_fault(opening, path,
                         "write { \"use\": \"…\" } with the options beside it",
                         "a %s was expected, found %s", manifest_kind_name(kind),
                         json_kind_name(json_kind(value)));
        return;
    }
    struct use *nested = grow(outer->nested, outer->nested_count, sizeof *nested);
    char *id = experiment_keep(opening, text_make("%s.%s", outer->id, dotted));
    char *option = experiment_keep(opening, text_copy(dotted));
    if (!nested) opening->is_broken = true;
    if (nested) outer->nested = nested;
    if (nested && id && option) {
        for (char *c = option; *c != '\0'; c++)
            if (*c == '.') *c = '/';
        nested += outer->nested_count++;
        *nested = (struct use){0};
        open_use(opening, value, &(struct place){kind, path, id, option}, nested);
    }
    free(option);
    free(id);
}

void experiment_resolve_path(struct opening *opening, struct json *value) {
    char *joined = path_join(opening->experiment->directory, json_text(value));
    char *absolute = experiment_keep(opening, joined ? path_absolute(joined) : NULL);
    if (absolute && !json_set_text(value, absolute)) opening->is_broken = true;
    free(absolute);
    free(joined);
}

void experiment_check_file(struct opening *opening, const char *path,
                           struct json *value) {
    const bool is_relative = json_text(value)[0] != '/';
    if (json_text(value)[0] == '\0') {
        experiment_fault(opening, path, "", "an empty string names no file");
        return;
    }
    experiment_resolve_path(opening, value);
    struct error err = {0};
    int fd = -1;
    if (opening->is_broken) return;
    if (file_open(json_text(value), &fd, NULL, &err) == LATHE_OK) {
        close(fd);
    } else {
        error_where(&err, "%.*s: %s", EXPERIMENT_FILE_SHOWN, opening->experiment->file,
                    path);
        if (is_relative && strncmp(err.help, "did you", strlen("did you")) != 0)
            error_help(&err, "the path is relative to %s",
                       opening->experiment->directory);
        *errors_add(opening->errors) = err;
    }
}

static void check_format(void *context, const char *format, const char *path,
                         struct json *value) {
    const struct visit *visit = context;
    const size_t length = strlen("plugin:");
    if (visit->opening->is_broken) return;
    if (strncmp(format, "plugin:", length) == 0) {
        open_nested(visit, manifest_kind_find(format + length), path, value);
    } else if (strcmp(format, "path") == 0) {
        experiment_check_file(visit->opening, path, value);
    } else if (strcmp(format, "metric") == 0) {
        experiment_check_metric(visit->opening, path, json_text(value));
    }
}

static void choose_id(struct opening *opening, const struct json *object,
                      const struct place *place, struct use *use) {
    const struct json *given = json_get(object, "id");
    const char *id = place->id ? place->id : json_text(json_get(object, "use"));
    if (given && (json_kind(given) != JSON_TEXT || !is_word(json_text(given)))) {
        char path[384];
        snprintf(path, sizeof path, "%s.id", place->path);
        id = ""; /* compared with no other */
        experiment_fault(opening, path,
                         "letters, digits, \"-\" and \"_\", not digits alone",
                         json_kind(given) == JSON_TEXT ? "\"%s\" cannot be an id"
                                                       : "a string was expected%s",
                         json_text(given));
    } else if (given) {
        id = json_text(given);
    }
    use->id = experiment_keep(opening, text_copy(id));
}

/* State and randomness are keyed by id, so no two plugins of one kind share one. */
static void claim_id(struct opening *opening, const struct use *use) {
    for (size_t i = 0; i < opening->claim_count; i++) {
        const struct claim *claim = &opening->claims[i];
        if (claim->kind != use->kind || strcmp(claim->id, use->id) != 0) continue;
        error_help(experiment_fault(
                       opening, use->path, "", "the %s at %s has the id \"%s\" already",
                       manifest_kind_name(use->kind), claim->path, use->id),
                   "add \"id\": \"%s-2\" beside \"use\"", use->id);
        return;
    }
    struct claim *claims = grow(opening->claims, opening->claim_count, sizeof *claims);
    if (!claims) {
        opening->is_broken = true;
        return;
    }
    opening->claims = claims;
    claims[opening->claim_count++] = (struct claim){use->kind, use->id, use->path};
}

static const struct manifest *find_plugin(struct opening *opening,
                                          const struct json *object,
                                          const struct place *place) {
    const struct manifest *manifest = NULL;
    const struct json *name = json_get(object, "use");
    const char *kind = manifest_kind_name(place->kind);
    char path[384];
    snprintf(path, sizeof path, "%s.use", place->path);
    if (!name) {
        experiment_fault(opening, place->path,
                         "lathe plugins lists those that are there",
                         "no \"use\" names the %s", kind);
    } else if (json_kind(name) != JSON_TEXT) {
        experiment_fault(opening, path, "", "the name of a %s was expected, found %s",
                         kind, json_kind_name(json_kind(name)));
    } else {
        struct error err = {0};
        if (registry_find(opening->registry, place->kind, json_text(name), &manifest,
                          &err) == LATHE_OK)
            return manifest;
        err.where[0] = '\0';
        error_where(&err, "%.*s: %s", EXPERIMENT_FILE_SHOWN, opening->experiment->file,
                    path);
        *errors_add(opening->errors) = err;
    }
    if (place->kind == LATHE_KIND_MODEL || place->kind == LATHE_KIND_CALLBACK)
        opening->is_metrics_open = true;
    return NULL;
}

void experiment_check_options(struct opening *opening, struct use *use,
                              struct json *object, const char *const *reserved) {
    char owner[160];
    snprintf(owner, sizeof owner, "%s %s", manifest_kind_name(use->kind),
             use->manifest->name);
    struct visit visit = {opening, use};
    const struct option_check check = {.errors = opening->errors,
                                       .file = opening->experiment->file,
                                       .format = check_format,
                                       .context = &visit};
    options_check_members(use->manifest->options, object, use->path, reserved, owner,
                          &check);
}

static void open_use(struct opening *opening, struct json *object,
                     const struct place *place, struct use *use) {
    static const char *const reserved[] = {"use", "id", NULL};
    static const char *const with_groups[] = {"use", "id", "groups", "keep", NULL};
    use->kind = place->kind;
    use->options = object;
    use->path = experiment_keep(opening, text_copy(place->path));
    if (place->option) use->option = experiment_keep(opening, text_copy(place->option));
    choose_id(opening, object, place, use);
    if (opening->is_broken) return;
    if (use->id[0]) claim_id(opening, use);
    use->manifest = find_plugin(opening, object, place);
    if (!use->manifest) return;

    experiment_check_options(opening, use, object,
                             use->kind == LATHE_KIND_OPTIMIZER ? with_groups
                                                               : reserved);
    if (use->kind == LATHE_KIND_MODEL || use->kind == LATHE_KIND_CALLBACK)
        experiment_declare_metrics(opening, use->manifest);
}

/* A part of the file that is one plugin; one that is no object has been told
 * already. */
static void open_part(struct opening *opening, const char *name, uint32_t kind,
                      struct use *use) {
    struct json *object = json_get(opening->experiment->resolved, name);
    if (json_kind(object) == JSON_MAP)
        open_use(opening, object, &(struct place){kind, name, NULL, NULL}, use);
}

static void open_data(struct opening *opening) {
    struct experiment *experiment = opening->experiment;
    struct json *data = json_get(experiment->resolved, "data");
    if (json_kind(data) != JSON_MAP) return;
    if (!json_get(data, "train"))
        experiment_fault(
            opening, "data",
            "add data.train; data.validation and data.test may be beside it",
            "there is nothing to train on");
    experiment->data = calloc(json_size(data) + 1, sizeof *experiment->data);
    if (!experiment->data) opening->is_broken = true;
    for (size_t i = 0; i < json_size(data) && !opening->is_broken; i++) {
        struct data_use *entry = &experiment->data[experiment->data_count++];
        struct json *object = json_at(data, i);
        char path[384];
        entry->split = json_key_at(data, i);
        snprintf(path, sizeof path, "data.%s", entry->split);
        if (!is_word(entry->split)) {
            experiment_fault(opening, path,
                             "letters, digits, \"-\" and \"_\", not digits alone",
                             "\"%s\" cannot name data", entry->split);
        } else if (json_kind(object) != JSON_MAP) {
            experiment_fault(
                opening, path,
                "write { \"use\": \"…\" } with the dataset's options beside it",
                "a dataset was expected, found %s", json_kind_name(json_kind(object)));
        } else {
            open_use(opening, object,
                     &(struct place){LATHE_KIND_DATASET, path, entry->split, NULL},
                     &entry->use);
        }
    }
}

static void open_callbacks(struct opening *opening) {
    struct experiment *experiment = opening->experiment;
    struct json *callbacks = json_get(experiment->resolved, "callbacks");
    const size_t count = json_kind(callbacks) == JSON_LIST ? json_size(callbacks) : 0;
    experiment->callbacks = calloc(count + 1, sizeof *experiment->callbacks);
    if (!experiment->callbacks) opening->is_broken = true;
    for (size_t i = 0; i < count && !opening->is_broken; i++) {
        struct use *use = &experiment->callbacks[experiment->callback_count++];
        struct json *object = json_at(callbacks, i);
        const char *id = experiment_callback_id(object);
        char path[384];
        const bool is_first = is_word(id) && experiment_index(callbacks, id, true) == i;
        if (is_first) {
            snprintf(path, sizeof path, "callbacks.%s", id);
        } else {
            snprintf(path, sizeof path, "callbacks.%zu", i);
        }
        if (json_kind(object) == JSON_MAP)
            open_use(opening, object,
                     &(struct place){LATHE_KIND_CALLBACK, path, NULL, NULL}, use);
    }
}

void experiment_find_uses(struct opening *opening) {
    struct experiment *experiment = opening->experiment;
    open_part(opening, "model", LATHE_KIND_MODEL, &experiment->model);
    open_data(opening);
    const size_t errors = opening->errors->count;
    open_part(opening, "optimizer", LATHE_KIND_OPTIMIZER, &experiment->optimizer);
    if (errors == opening->errors->count)
        experiment_find_groups(opening, json_get(experiment->resolved, "optimizer"));
    open_part(opening, "schedule", LATHE_KIND_SCHEDULE, &experiment->schedule);
    open_callbacks(opening);
}

void experiment_finish_use(struct use *use) {
    for (size_t i = 0; i < use->nested_count; i++)
        experiment_finish_use(&use->nested[i]);
    free(use->nested);
    free(use->option);
    free(use->path);
    free(use->id);
}
