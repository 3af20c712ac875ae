/* SPDX-License-Identifier: MIT */
#include "check/subject.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "experiment.h"
#include "metrics.h"
#include "options.h"

/* ---- which plugin ---- */

/* The library in a folder without plugin.json, where there is one alone; the
 * caller's. */
static char *find_library(const char *folder) {
    char *found = NULL;
    int count = 0;
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        if (entry->d_name[0] == '.' || !text_ends_with(entry->d_name, ".so")) continue;
        free(found);
        found = path_join(folder, entry->d_name);
        count++;
    }
    if (entries) closedir(entries);
    if (count == 1) return found;
    free(found);
    return NULL;
}

/* The manifest or library that is meant; the caller's. */
static lathe_status choose_file(const char *word, char **path, struct error *err) {
    struct stat info;
    *path = NULL;
    if (stat(word, &info) != 0) {
        const lathe_status status = error_from_errno(errno);
        return fail(err, status, "%s: %s", word, strerror(errno));
    }
    char *absolute = path_absolute(word);
    if (!absolute) return fail(err, LATHE_ENOMEM, "out of memory");
    if (!S_ISDIR(info.st_mode)) {
        *path = absolute;
        return LATHE_OK;
    }
    *path = path_join(absolute, "plugin.json");
    if (*path && stat(*path, &info) != 0) {
        free(*path);
        *path = find_library(absolute);
        if (!*path) {
            fail(err, LATHE_ENOTFOUND,
                 "there is no plugin in %s: neither plugin.json nor one library alone",
                 word);
            error_help(err,
                       "name the folder of one plugin, its plugin.json or its .so");
        }
    }
    free(absolute);
    return *path ? LATHE_OK : err->status;
}

/* A library with its manifest beside it is checked by that. */
static char *manifest_beside(const char *library, const struct json *format) {
    char *folder = path_directory(library);
    char *path = folder ? path_join(folder, "plugin.json") : NULL;
    struct manifest *manifest = NULL;
    struct error err = {0};
    const bool is_its = path &&
                        manifest_read(path, format, &manifest, &err) == LATHE_OK &&
                        !strcmp(manifest->library, path_name(library));
    manifest_close(manifest);
    free(folder);
    if (is_its) return path;
    free(path);
    return NULL;
}

static lathe_status read_manifest(struct subject *subject, const char *word,
                                  struct error *err) {
    char *path = NULL;
    lathe_status status = manifest_format(&subject->format, err);
    if (status == LATHE_OK) status = choose_file(word, &path, err);
    if (status != LATHE_OK) return status;
    char *beside =
        text_ends_with(path, ".so") ? manifest_beside(path, subject->format) : NULL;
    if (beside) {
        free(path);
        path = beside;
    }
    if (text_ends_with(path, ".so"))
        manifest_from_library(path, subject->format, &subject->manifest,
                              &subject->refused);
    else if (manifest_read(path, subject->format, &subject->manifest,
                           &subject->refused) == LATHE_OK)
        manifest_check_library(subject->manifest, subject->format, &subject->refused);
    subject->directory = path_directory(path);
    free(path);
    return subject->directory ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
}

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

static lathe_status take_experiment(struct subject *subject, const char *file,
                                    struct error *err) {
    static const char *const own[] = {"use", "id", NULL};
    static const char *const optimizers[] = {"use", "id", "groups", "keep", NULL};
    const struct manifest *m = subject->manifest;
    struct registry *registry = NULL;
    struct experiment *experiment = NULL;
    struct errors errors = {0};
    lathe_status status = registry_open(subject->plugin_paths, NULL, &registry, err);
    if (status != LATHE_OK) return status;
    status = experiment_open(file, NULL, registry, &experiment, &errors);
    if (status != LATHE_OK && errors.count) *err = errors.items[0];
    const struct use *use = experiment ? find_use(experiment, m) : NULL;
    if (use) {
        subject->options = json_clone_without(
            use->options, m->kind == LATHE_KIND_OPTIMIZER ? optimizers : own);
        subject->data =
            json_clone(json_get(json_get(experiment->resolved, "data"), "train"));
        if (!subject->options || !subject->data)
            status = fail(err, LATHE_ENOMEM, "out of memory");
    } else if (status == LATHE_OK) {
        status = fail(err, LATHE_EINVAL, "the experiment does not use the %s \"%s\"",
                      manifest_kind_name(m->kind), m->name);
        error_where(err, "%s", file);
    }
    errors_finish(&errors);
    experiment_close(experiment);
    registry_close(registry);
    return status;
}

/* Fills in what nobody gave and the manifest wants. */
static lathe_status complete(struct subject *subject, struct error *err) {
    const struct json *options = subject->manifest->options;
    if (!subject->options) subject->options = json_make_map();
    if (!subject->options) return fail(err, LATHE_ENOMEM, "out of memory");
    for (struct json_member at = {0}; json_next(options, &at);) {
        if (json_get(subject->options, at.key) || json_get(at.value, "default") ||
            json_truth(json_get(at.value, "optional")))
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

lathe_status subject_open(struct subject *subject, const char *word, const char *with,
                          const char *experiment, const char *const *plugin_paths,
                          struct error *err) {
    size_t count = 0;
    lathe_status status = read_manifest(subject, word, err);
    if (status != LATHE_OK) return status;
    while (plugin_paths && plugin_paths[count]) count++;
    const char **places = calloc(count + 2, sizeof *places);
    if (!places) return fail(err, LATHE_ENOMEM, "out of memory");
    places[0] = subject->directory;
    for (size_t i = 0; i < count; i++) places[i + 1] = plugin_paths[i];
    subject->plugin_paths = places;
    if (subject->refused.status != LATHE_OK) return LATHE_OK;
    if (with) status = take_with(subject, with, err);
    if (status == LATHE_OK && experiment)
        status = take_experiment(subject, experiment, err);
    if (status == LATHE_OK) status = complete(subject, err);
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

/* ---- experiments ---- */

static const struct {
    const char *shape, *name;
} made_data[CHECK_DATA] = {{"classes", "6 numbers and 3 classes"},
                           {"numbers", "6 numbers and 2 to predict"},
                           {"image", "images of 2x5x5 and 3 classes"},
                           {"tokens", "8 tokens"},
                           {"scalar", "one number and one to predict"}};

const char *subject_data_name(int data) {
    return data < CHECK_DATA ? made_data[data].name : "the experiment's data";
}

bool subject_is_suitable(const struct subject *subject, int data) {
    return (subject->suitable >> data & 1) != 0;
}

int subject_first_data(const struct subject *subject) {
    int data = 0;
    while (data < CHECK_DATA && !subject_is_suitable(subject, data)) data++;
    return subject->suitable ? data : 0;
}

static void add_subject(const struct subject *subject, const struct setup *setup,
                        struct text *text) {
    const struct json *options = setup->options ? setup->options : subject->options;
    text_add(text, "{\"use\": ");
    text_json_string(text, subject->manifest->name);
    for (struct json_member at = {0}; json_next(options, &at);) {
        text_add(text, ", ");
        text_json_string(text, at.key);
        text_add(text, ": ");
        json_write(at.value, text, 0);
    }
    text_add(text, "}");
}

static void add_data(const struct subject *subject, const struct setup *setup,
                     struct text *text) {
    if (subject->manifest->kind == LATHE_KIND_DATASET) {
        add_subject(subject, setup, text);
    } else if (setup->data == CHECK_DATA) {
        json_write(subject->data, text, 0);
    } else {
        text_format(
            text, "{\"use\": \"check-data\", \"shape\": \"%s\", \"rows\": %lld}",
            made_data[setup->data].shape, (long long)(setup->rows ? setup->rows : 23));
    }
}

static void add_callbacks(const struct subject *subject, const struct setup *setup,
                          struct text *text) {
    const bool is_first = subject->manifest->kind == LATHE_KIND_CALLBACK;
    text_add(text, ",\n\"callbacks\": [");
    if (is_first) add_subject(subject, setup, text);
    if (setup->callback)
        text_format(text, "%s{\"use\": \"check-callback\"%s}", is_first ? ", " : "",
                    setup->callback);
    text_add(text, "]");
}

char *subject_experiment(const struct subject *subject, const struct setup *setup) {
    struct text text = {0};
    const uint32_t kind = subject->manifest->kind;
    const int splits = setup->has_visits ? SPLIT_COUNT : 1;
    text_format(&text,
                "{\"lathe\": 1, \"name\": \"check\", \"seed\": %llu,\n\"data\": {",
                (unsigned long long)(setup->seed & INT32_MAX));
    for (int i = 0; i < splits; i++) {
        text_format(&text, "%s\"%s\": ", i ? ",\n" : "", split_names[i]);
        add_data(subject, setup, &text);
    }
    text_add(&text, "},\n\"model\": ");
    if (kind == LATHE_KIND_MODEL)
        add_subject(subject, setup, &text);
    else
        text_format(&text, "{\"use\": \"check-model\"%s}",
                    setup->model ? setup->model : "");
    text_add(&text, ",\n\"optimizer\": ");
    if (kind == LATHE_KIND_OPTIMIZER)
        add_subject(subject, setup, &text);
    else
        text_add(&text, "{\"use\": \"check-optimizer\", \"lr\": 0.05}");
    if (kind == LATHE_KIND_SCHEDULE) {
        text_add(&text, ",\n\"schedule\": ");
        add_subject(subject, setup, &text);
    }
    text_format(
        &text,
        ",\n\"train\": {\"until\": \"%s\", \"batch\": %lld, \"accumulate\": %lld, "
        "\"threads\": 1}",
        setup->until ? setup->until : "4ep",
        (long long)(setup->batch ? setup->batch : 16),
        (long long)(setup->accumulate ? setup->accumulate : 1));
    add_callbacks(subject, setup, &text);
    if (setup->stages) text_format(&text, ",\n\"stages\": %s", setup->stages);
    text_add(&text, "}");
    if (!text.is_broken) return text.data;
    text_finish(&text);
    return NULL;
}
