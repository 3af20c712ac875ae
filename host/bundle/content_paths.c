/* SPDX-License-Identifier: MIT */
/* Are the files that an experiment of a bundle names the bundle's? One that names
 * others reads what is on the machine of whoever runs it. */
#include <string.h>

#include "bundle/content_parts.h"
#include "bundle/uses.h"

struct settings {
    const struct bundle *bundle;
    const char *folder;
    const struct experiment *experiment;
    const char *const *overrides;
    struct json *seen;  /* {setting: path in the bundle}; "": the user gave it */
    struct json *given; /* {path: true}: by the user */
    struct errors *faults;
};

static const struct bundle_file *find_data(const struct bundle *bundle,
                                           const char *path) {
    const struct bundle_file *file = bundle_find(bundle, path);
    for (size_t i = 0; i < bundle->outside_count && !file; i++)
        if (!strcmp(bundle->outside[i].path, path)) file = &bundle->outside[i];
    return file;
}

__attribute__((format(printf, 3, 4))) static void add_fault(
    const struct settings *settings, const char *setting, const char *format, ...) {
    struct error *err = errors_add(settings->faults);
    va_list arguments;
    va_start(arguments, format);
    fail_list(err, LATHE_EDATA, format, arguments);
    va_end(arguments);
    error_where(err, setting ? "%s: %s" : "%s",
                setting ? BUNDLE_EXPERIMENT : BUNDLE_JSON, setting);
    error_help(err, "make the bundle again: lathe pack");
}

/* A later stage has a path that was given for the first under a name of its own. */
static bool is_given(const struct settings *settings, const char *setting,
                     const char *path) {
    return !strcmp(experiment_origin(settings->experiment, setting), "command line") ||
           json_get(settings->given, path);
}

static lathe_status look_at_path(void *context, const char *setting,
                                 struct json *value) {
    const struct settings *settings = context;
    const size_t length = strlen(settings->folder);
    const char *path = json_text(value);
    if (is_given(settings, setting, path))
        return json_put(settings->given, path, json_make_truth(true)) &&
                       json_put(settings->seen, setting, json_make_text(""))
                   ? LATHE_OK
                   : LATHE_ENOMEM;
    const bool is_inside =
        !strncmp(path, settings->folder, length) && path[length] == '/';
    if (is_inside) path += length + 1;
    if (is_inside && find_data(settings->bundle, path))
        return json_put(settings->seen, setting, json_make_text(path)) ? LATHE_OK
                                                                       : LATHE_ENOMEM;
    add_fault(settings, setting, "\"%.400s\" is not among the files of the bundle",
              path);
    return LATHE_OK;
}

/* Does the user change something else in the same part of the experiment, which may be
 * without the setting then? */
static bool is_changed(const struct settings *settings, const char *setting) {
    for (size_t i = 0; settings->overrides && settings->overrides[i]; i++) {
        const char *override = settings->overrides[i];
        const size_t length = strcspn(override, "="), part = strcspn(setting, ".");
        const bool is_it =
            length == strlen(setting) && !strncmp(override, setting, length);
        if (!is_it && part <= length && !strncmp(override, setting, part) &&
            strchr(".=", override[part]))
            return true;
    }
    return false;
}

/* When a bundle is run, the settings that bundle.json lists for a file are overridden
 * with its place: they must be those that name it. */
static void look_at_users(const struct settings *settings,
                          const struct bundle_file *files, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < json_size(files[i].used_by); k++) {
            const char *setting = json_text(json_at(files[i].used_by, k));
            const struct json *seen = json_get(settings->seen, setting);
            const char *path = json_text(seen);
            if (seen ? !*path || !strcmp(path, files[i].path)
                     : is_changed(settings, setting))
                continue;
            add_fault(
                settings, NULL,
                "bundle.json says that \"%.200s\" is for %.150s, which names %s%.100s",
                files[i].path, setting, *path ? "" : "no file", path);
        }
}

void content_check_paths(const struct bundle *bundle, const char *folder,
                         const struct experiment *experiment,
                         const char *const *overrides, struct errors *faults) {
    struct settings settings = {bundle,          folder,          experiment, overrides,
                                json_make_map(), json_make_map(), faults};
    lathe_status status = settings.seen && settings.given ? LATHE_OK : LATHE_ENOMEM;
    if (!status) status = uses_each_path(experiment, &settings, look_at_path);
    if (!status) {
        look_at_users(&settings, bundle->files, bundle->file_count);
        look_at_users(&settings, bundle->outside, bundle->outside_count);
    } else {
        fail(errors_add(faults), LATHE_ENOMEM, "out of memory");
    }
    json_close(settings.seen);
    json_close(settings.given);
}
