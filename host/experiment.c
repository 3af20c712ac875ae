/* SPDX-License-Identifier: MIT */
#include "experiment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/file.h"
#include "base/path.h"
#include "experiment_parts.h"

extern const char schema_experiment[];

#define SOURCE_LIMIT ((size_t)16 << 20)

struct error *experiment_fault(struct opening *opening, const char *path,
                               const char *help, const char *format, ...) {
    struct error *err = errors_add(opening->errors);
    va_list arguments;
    va_start(arguments, format);
    fail_list(err, LATHE_EINVAL, format, arguments);
    va_end(arguments);
    error_where(err, "%.*s: %s", EXPERIMENT_FILE_SHOWN, opening->experiment->file,
                path);
    error_help(err, "%s", help);
    return err;
}

char *experiment_keep(struct opening *opening, char *memory) {
    if (!memory) opening->is_broken = true;
    return memory;
}

/* "manifests/fashion-mlp.json" → "fashion-mlp" */
static char *stem_of(const char *file) {
    if (strcmp(file, EXPERIMENT_TEXT) == 0) return text_copy("experiment");
    char *stem = text_copy(path_name(file));
    char *dot = stem ? strrchr(stem, '.') : NULL;
    if (dot && dot != stem && strcmp(dot, ".json") == 0) *dot = '\0';
    return stem;
}

static void name_source(struct opening *opening, const char *source) {
    struct experiment *experiment = opening->experiment;
    const bool is_text = source[0] == '{';
    experiment->file =
        experiment_keep(opening, text_copy(is_text ? EXPERIMENT_TEXT : source));
    char *directory = is_text ? text_copy(".") : path_directory(source);
    if (directory) experiment->directory = path_absolute(directory);
    free(directory);
    experiment_keep(opening, experiment->directory);
}

static void read_source(struct opening *opening, const char *source) {
    struct experiment *experiment = opening->experiment;
    const bool is_text = source[0] == '{';
    struct error err = {0};
    size_t length = is_text ? strlen(source) : 0;
    lathe_status status = LATHE_OK;
    if (is_text) {
        experiment->source = experiment_keep(opening, text_copy(source));
    } else {
        status = file_read(source, SOURCE_LIMIT, &experiment->source, &length, &err);
    }
    if (status == LATHE_OK && experiment->source)
        status = json_parse(experiment->source, length, experiment->file,
                            &experiment->given, &err);
    if (status != LATHE_OK) *errors_add(opening->errors) = err;
}

static void ignore_format(void *context, const char *format, const char *path,
                          struct json *value) {
    (void)context, (void)format, (void)path, (void)value;
}

/* The part of the format that is the same whatever plugins are used. */
static void check_fixed_part(struct opening *opening) {
    const struct option_check check = {.errors = opening->errors,
                                       .file = opening->experiment->file,
                                       .format = ignore_format};
    options_check(opening->schema, opening->experiment->resolved, "", &check);
}

static void choose_name(struct opening *opening) {
    struct experiment *experiment = opening->experiment;
    if (!json_get(experiment->resolved, "name")) {
        char *stem = experiment_keep(opening, stem_of(experiment->file));
        json_put(experiment->resolved, "name", json_make_text(stem ? stem : ""));
        free(stem);
    }
    const struct json *name = json_get(experiment->resolved, "name");
    experiment->name = json_text(name);
    if (json_kind(name) == JSON_TEXT && experiment->name[0] != '\0' &&
        !path_is_plain_name(experiment->name))
        experiment_fault(opening, "name", "leave out \"/\"",
                         "\"%s\" cannot name a directory", experiment->name);
}

static void choose_seed(struct opening *opening) {
    struct experiment *experiment = opening->experiment;
    if (!json_get(experiment->resolved, "seed")) {
        uint64_t bits = 0;
        if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
            experiment_fault(opening, "seed", "",
                             "the system has no random numbers to draw one from")
                ->status = LATHE_EPLUGIN;
        /* Below 2^53, so that any reader of JSON keeps it. */
        json_put(experiment->resolved, "seed", json_make_whole((int64_t)(bits >> 11)));
        experiment->is_seed_drawn = true;
    }
    experiment->seed = (uint64_t)json_whole(json_get(experiment->resolved, "seed"));
}

/* An error about a value that the command line gave is told of the command line. */
static void relabel_errors(const struct opening *opening) {
    const struct experiment *experiment = opening->experiment;
    const size_t length = strnlen(experiment->file, EXPERIMENT_FILE_SHOWN);
    for (size_t i = 0; i < opening->errors->count; i++) {
        struct error *err = &opening->errors->items[i];
        if (strncmp(err->where, experiment->file, length) != 0 ||
            strncmp(err->where + length, ": ", 2) != 0)
            continue;
        char path[sizeof err->where];
        memcpy(path, err->where, sizeof path);
        const char *inner = path + length + 2;
        if (strcmp(experiment_origin(experiment, inner), "command line") != 0) continue;
        err->where[0] = '\0';
        error_where(err, "command line: %s", inner);
    }
}

/* A resolved.json says where its values came from; that was another run's. */
static struct json *copy_given(const struct json *given) {
    static const char *const of_that_run[] = {"origin", "plugin_path", "run", "from",
                                              NULL};
    return json_get(given, "origin") ? json_clone_without(given, of_that_run)
                                     : json_clone(given);
}

static void check_all(struct opening *opening) {
    struct experiment *experiment = opening->experiment;
    struct error err = {0};
    if (json_parse(schema_experiment, strlen(schema_experiment), "schema",
                   &opening->schema, &err) != LATHE_OK) {
        *errors_add(opening->errors) = err;
        return;
    }
    experiment->written = copy_given(experiment->given);
    experiment_override(opening);
    experiment_take_stages(opening);
    experiment->resolved = json_clone(experiment->written);
    if (!experiment->written || !experiment->resolved) {
        opening->is_broken = true;
        return;
    }
    check_fixed_part(opening);
    if (json_kind(experiment->resolved) == JSON_MAP) {
        choose_name(opening);
        choose_seed(opening);
        experiment_find_uses(opening);
        experiment_check_train(opening);
        experiment_check_start(opening);
        experiment_read_expectations(opening);
        experiment_open_stages(opening);
    }
    if (opening->errors->count == 0 && !opening->is_broken) {
        experiment_read_train(experiment);
        experiment_read_start(experiment);
    }
    relabel_errors(opening);
}

static void keep_overrides(struct opening *opening, const char *const *overrides) {
    struct experiment *experiment = opening->experiment;
    size_t count = 0;
    while (overrides && overrides[count]) count++;
    experiment->overrides = calloc(count + 1, sizeof *experiment->overrides);
    experiment->override_paths = calloc(count + 1, sizeof *experiment->override_paths);
    if (!experiment->overrides || !experiment->override_paths) {
        opening->is_broken = true;
        return;
    }
    experiment->override_count = count;
    for (size_t i = 0; i < count; i++)
        experiment->overrides[i] = experiment_keep(opening, text_copy(overrides[i]));
}

/* The status that all errors share; LATHE_EINVAL when they differ. */
static lathe_status judge(const struct opening *opening) {
    const struct errors *errors = opening->errors;
    if (opening->is_broken) return errors->items[errors->count - 1].status;
    if (errors->count == 0) return LATHE_OK;
    for (size_t i = 1; i < errors->count; i++)
        if (errors->items[i].status != errors->items[0].status) return LATHE_EINVAL;
    return errors->items[0].status;
}

/* False: no memory, and said so. */
static bool begin_opening(struct opening *opening, const char *const *overrides) {
    opening->experiment = calloc(1, sizeof *opening->experiment);
    if (opening->experiment)
        keep_overrides(opening, overrides);
    else
        fail(errors_add(opening->errors), LATHE_ENOMEM, "no memory for the experiment");
    return opening->experiment != NULL;
}

/* What was given is checked, and the opening ended. */
static lathe_status finish_opening(struct opening *opening,
                                   struct experiment **experiment) {
    if (!opening->is_broken && opening->experiment->given) check_all(opening);
    if (opening->is_broken && !opening->experiment->directory)
        path_fail(errors_add(opening->errors));
    else if (opening->is_broken)
        fail(errors_add(opening->errors), LATHE_ENOMEM, "no memory for the experiment");

    const lathe_status status = judge(opening);
    free(opening->claims);
    free(opening->metrics);
    json_close(opening->schema);
    if (status == LATHE_OK)
        *experiment = opening->experiment;
    else
        experiment_close(opening->experiment);
    return status;
}

static lathe_status open_given(struct opening *opening, const char *source,
                               const char *const *overrides,
                               struct experiment **experiment) {
    *experiment = NULL;
    if (!begin_opening(opening, overrides)) return LATHE_ENOMEM;
    if (!opening->is_broken) name_source(opening, source);
    if (!opening->is_broken) read_source(opening, source);
    return finish_opening(opening, experiment);
}

lathe_status experiment_open(const char *source, const char *const *overrides,
                             const struct registry *registry,
                             struct experiment **experiment, struct errors *errors) {
    struct opening opening = {.registry = registry, .errors = errors};
    return open_given(&opening, source, overrides, experiment);
}

lathe_status experiment_reopen(const char *source, const char *const *overrides,
                               const struct registry *registry,
                               struct experiment **experiment, struct errors *errors) {
    struct opening opening = {
        .registry = registry, .errors = errors, .has_begun = true};
    return open_given(&opening, source, overrides, experiment);
}

void experiment_open_as(struct json *given, const char *file, const char *directory,
                        const struct registry *registry, struct experiment **experiment,
                        struct errors *errors) {
    struct opening opening = {
        .registry = registry, .errors = errors, .has_begun = true};
    *experiment = NULL;
    if (!begin_opening(&opening, NULL)) {
        json_close(given);
        return;
    }
    opening.experiment->given = given;
    opening.experiment->file = experiment_keep(&opening, text_copy(file));
    opening.experiment->directory = experiment_keep(&opening, text_copy(directory));
    finish_opening(&opening, experiment);
}

lathe_status experiment_take_seed(struct experiment *experiment, int64_t seed,
                                  struct error *err) {
    if (!experiment->is_seed_drawn) return LATHE_OK;
    experiment->seed = (uint64_t)seed;
    for (size_t i = 0; i < experiment->stage_count; i++)
        experiment->stages[i]->seed = (uint64_t)seed;
    if (json_put(experiment->resolved, "seed", json_make_whole(seed))) return LATHE_OK;
    return fail(err, LATHE_ENOMEM, "no memory for the seed");
}

const struct use *experiment_data(const struct experiment *experiment,
                                  const char *split) {
    for (size_t i = 0; i < experiment->data_count; i++)
        if (strcmp(experiment->data[i].split, split) == 0)
            return &experiment->data[i].use;
    return NULL;
}

static void free_list(char **list, size_t count) {
    for (size_t i = 0; list && i < count; i++) free(list[i]);
    free(list);
}

void experiment_close(struct experiment *experiment) {
    if (!experiment) return;
    experiment_close_stages(experiment);
    for (size_t i = 0; i < experiment->data_count; i++)
        experiment_finish_use(&experiment->data[i].use);
    for (size_t i = 0; i < experiment->callback_count; i++)
        experiment_finish_use(&experiment->callbacks[i]);
    experiment_finish_groups(experiment);
    experiment_finish_use(&experiment->model);
    experiment_finish_use(&experiment->optimizer);
    experiment_finish_use(&experiment->schedule);
    free(experiment->data);
    free(experiment->callbacks);
    free(experiment->expectations);
    free_list(experiment->overrides, experiment->override_count);
    free_list(experiment->override_paths, experiment->override_count);
    json_close(experiment->resolved);
    json_close(experiment->written);
    json_close(experiment->given);
    free(experiment->source);
    free(experiment->directory);
    free(experiment->file);
    free(experiment);
}
