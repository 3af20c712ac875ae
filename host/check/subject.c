/* SPDX-License-Identifier: MIT */
#include "check/subject.h"

#include <stdlib.h>
#include <string.h>

#include "check/stand_ins.h"
#include "experiment.h"
#include "options.h"

/* ---- its options ---- */

static void ignore_format(void *context, const char *format, const char *path,
                          struct json *value) {
    (void)context, (void)format, (void)path, (void)value;
}

static lathe_status take_with(struct subject *subject, const char *with,
                              struct error *err) {
    lathe_status status =
        json_parse(with, strlen(with), "--with", &subject->options, err);
    if (status == LATHE_OK && json_kind(subject->options) != JSON_MAP)
        status = fail(err, LATHE_EINVAL, "--with takes an object: '{\"lr\": 0.1}'");
    return status;
}

/* Is what somebody gave what the manifest allows? */
static lathe_status verify(const struct subject *subject, struct error *err) {
    static const char *const reserved[] = {NULL};
    struct errors errors = {0};
    const struct option_check check = {
        .errors = &errors, .file = "options", .format = ignore_format};
    struct json *copy = json_clone(subject->options);
    if (!copy) return fail(err, LATHE_ENOMEM, "out of memory");
    options_check_members(subject->manifest->options, copy, "with", reserved,
                          subject->manifest->name, &check);
    if (errors.count) *err = errors.items[0];
    const lathe_status status = errors.count ? err->status : LATHE_OK;
    errors_finish(&errors);
    json_close(copy);
    return status;
}

static const struct use *find_nested(const struct use *use, const struct manifest *m) {
    if (use->manifest && use->manifest->kind == m->kind &&
        !strcmp(use->manifest->name, m->name))
        return use;
    const struct use *found = NULL;
    for (size_t i = 0; !found && i < use->nested_count; i++)
        found = find_nested(&use->nested[i], m);
    return found;
}

static const struct use *find_use(const struct experiment *e,
                                  const struct manifest *m) {
    const struct use *places[] = {&e->model, &e->optimizer, &e->schedule};
    const struct use *found = NULL;
    for (size_t i = 0; !found && i < 3; i++) found = find_nested(places[i], m);
    for (size_t i = 0; !found && i < e->data_count; i++)
        found = find_nested(&e->data[i].use, m);
    for (size_t i = 0; !found && i < e->callback_count; i++)
        found = find_nested(&e->callbacks[i], m);
    return found;
}

/* The options that it has there are the subject's. */
static lathe_status take_options(struct subject *subject,
                                 const struct experiment *experiment,
                                 struct error *err) {
    static const char *const own[] = {"use", "id", NULL};
    static const char *const optimizers[] = {"use", "id", "groups", "keep", NULL};
    const struct manifest *m = subject->manifest;
    const struct use *use = find_use(experiment, m);
    if (!use)
        return fail(err, LATHE_EINVAL, "the experiment does not use the %s \"%s\"",
                    manifest_kind_name(m->kind), m->name);
    json_close(subject->options);
    subject->options = json_clone_without(
        use->options, m->kind == LATHE_KIND_OPTIMIZER ? optimizers : own);
    return subject->options ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
}

static lathe_status open_experiment(const struct subject *subject, const char *source,
                                    const char *const *words,
                                    struct registry **registry,
                                    struct experiment **experiment, struct error *err) {
    struct errors errors = {0};
    lathe_status status =
        registry_open(subject->plugin_paths, stand_ins(), registry, err);
    if (status != LATHE_OK) return status;
    status = experiment_open(source, words, *registry, experiment, &errors);
    if (status != LATHE_OK && errors.count) *err = errors.items[0];
    errors_finish(&errors);
    return status;
}

static lathe_status take_experiment(struct subject *subject, const char *file,
                                    struct error *err) {
    struct registry *registry = NULL;
    struct experiment *experiment = NULL;
    lathe_status status =
        open_experiment(subject, file, NULL, &registry, &experiment, err);
    if (status == LATHE_OK) {
        status = take_options(subject, experiment, err);
        if (status != LATHE_OK) error_where(err, "%s", file);
    }
    if (status == LATHE_OK) {
        subject->data =
            json_clone(json_get(json_get(experiment->resolved, "data"), "train"));
        if (!subject->data) status = fail(err, LATHE_ENOMEM, "out of memory");
    }
    experiment_close(experiment);
    registry_close(registry);
    return status;
}

/* Where the plugin stands in an experiment that is made for it. */
static const char *place_of(uint32_t kind) {
    switch (kind) {
    case LATHE_KIND_DATASET:
        return "data.train";
    case LATHE_KIND_CALLBACK:
        return "callbacks.0";
    default:
        return manifest_kind_name(kind);
    }
}

/* "command line: optimizer.lr" is "lr" to who gave it. */
static void leave_place_out(const char *place, struct error *err) {
    char *at = strstr(err->where, place);
    const size_t length = strlen(place);
    if (at && at[length] == '.') memmove(at, at + length + 1, strlen(at + length));
}

/* As overrides of a small experiment, so that they are read as `run` reads them. */
static lathe_status take_words(struct subject *subject, const char *const *words,
                               struct error *err) {
    const char *place = place_of(subject->manifest->kind);
    const struct setup setup = {.data = 0};
    struct registry *registry = NULL;
    struct experiment *experiment = NULL;
    size_t count = 0;
    while (words[count]) count++;
    char **overrides = calloc(count + 1, sizeof *overrides);
    char *source = subject_experiment(subject, &setup);
    bool is_whole = overrides && source;
    for (size_t i = 0; is_whole && i < count; i++) {
        overrides[i] = text_make("%s.%s", place, words[i]);
        is_whole = overrides[i] != NULL;
    }
    lathe_status status =
        is_whole ? open_experiment(subject, source, (const char *const *)overrides,
                                   &registry, &experiment, err)
                 : fail(err, LATHE_ENOMEM, "out of memory");
    if (status == LATHE_OK)
        status = take_options(subject, experiment, err);
    else
        leave_place_out(place, err);
    experiment_close(experiment);
    registry_close(registry);
    for (size_t i = 0; overrides && i < count; i++) free(overrides[i]);
    free(overrides);
    free(source);
    return status;
}

/* Does a word give the option as a whole: "lr=…", not "hidden.0=…"? */
static bool is_given(const char *const *words, const char *name) {
    const size_t length = strlen(name);
    for (size_t i = 0; words && words[i]; i++)
        if (!strncmp(words[i], name, length) && words[i][length] == '=') return true;
    return false;
}

/* Fills in what nobody gave and the manifest wants. */
static lathe_status complete(struct subject *subject, const char *const *words,
                             struct error *err) {
    const struct json *options = subject->manifest->options;
    if (!subject->options) subject->options = json_make_map();
    if (!subject->options) return fail(err, LATHE_ENOMEM, "out of memory");
    for (struct json_member at = {0}; json_next(options, &at);) {
        if (json_get(subject->options, at.key) || json_get(at.value, "default") ||
            json_truth(json_get(at.value, "optional")) || is_given(words, at.key))
            continue;
        struct json *value = subject_make_up(at.value, at.key);
        struct text *list = value ? &subject->made_up : &subject->missing;
        text_format(list, "%s%s", list->length ? ", " : "", at.key);
        if (!value) continue;
        text_add(list, "=");
        json_write(value, list, 0);
        if (!json_put(subject->options, at.key, value))
            return fail(err, LATHE_ENOMEM, "out of memory");
    }
    return LATHE_OK;
}

lathe_status subject_open(struct subject *subject, const char *word,
                          const struct given *given, const char *const *plugin_paths,
                          struct error *err) {
    size_t count = 0;
    lathe_status status = subject_find(subject, word, plugin_paths, err);
    if (status != LATHE_OK) return status;
    while (plugin_paths && plugin_paths[count]) count++;
    const char **places = calloc(count + 2, sizeof *places);
    if (!places) return fail(err, LATHE_ENOMEM, "out of memory");
    places[0] = subject->directory;
    for (size_t i = 0; i < count; i++) places[i + 1] = plugin_paths[i];
    subject->plugin_paths = places;
    if (subject->refused.status != LATHE_OK) return LATHE_OK;
    if (given->with) status = take_with(subject, given->with, err);
    if (status == LATHE_OK && given->experiment)
        status = take_experiment(subject, given->experiment, err);
    if (status == LATHE_OK) status = complete(subject, given->words, err);
    if (status == LATHE_OK && given->words && !subject->missing.length)
        status = take_words(subject, given->words, err);
    return status == LATHE_OK && !subject->missing.length ? verify(subject, err)
                                                          : status;
}

void subject_close(struct subject *subject) {
    manifest_close(subject->manifest);
    json_close(subject->format);
    json_close(subject->options);
    json_close(subject->data);
    text_finish(&subject->made_up);
    text_finish(&subject->missing);
    free((void *)subject->plugin_paths);
    free(subject->directory);
}
