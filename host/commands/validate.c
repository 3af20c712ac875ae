/* SPDX-License-Identifier: MIT */
/* lathe validate: is the experiment in order, as far as can be told without opening a
 * plugin? Tells every fault, not only the first. */
#include <stdio.h>
#include <string.h>

#include "commands/arguments.h"
#include "commands/bundles.h"
#include "commands/commands.h"
#include "experiment.h"

/* The override path within an error's where; `position` gets "3:17: " when the fault is
 * in the JSON itself. */
static const char *path_of(const char *where, const char *source, const char **position,
                           int *length) {
    const char *const names[] = {"command line", EXPERIMENT_TEXT, source};
    *position = "";
    *length = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t count = strlen(names[i]);
        if (strncmp(where, names[i], count) != 0) continue;
        if (strncmp(where + count, ": ", 2) == 0) return where + count + 2;
        if (where[count] != ':') continue;
        *position = where + count + 1;
        *length = (int)strlen(*position);
    }
    return "";
}

static void print_json(const struct errors *errors, const char *source) {
    struct text text = {0};
    text_format(&text, "{\"ok\":%s,\"errors\":[",
                errors->count == 0 ? "true" : "false");
    for (size_t i = 0; i < errors->count; i++) {
        const struct error *err = &errors->items[i];
        const char *position;
        int length;
        const char *path = path_of(err->where, source, &position, &length);
        char message[sizeof err->what + sizeof err->where];
        snprintf(message, sizeof message, "%.*s%s%s", length, position,
                 length > 0 ? ": " : "", err->what);
        text_add(&text, i > 0 ? ",{\"path\":" : "{\"path\":");
        text_json_string(&text, path);
        text_add(&text, ",\"message\":");
        text_json_string(&text, message);
        text_add(&text, ",\"help\":");
        text_json_string(&text, err->help);
        text_add(&text, "}");
    }
    text_add(&text, "]}");
    puts(text.data ? text.data : "");
    text_finish(&text);
}

/* "10ep", or "10ep or 30min" */
static void add_until(const struct experiment *experiment, struct text *text) {
    const struct json *until =
        json_get(json_get(experiment->resolved, "train"), "until");
    if (json_kind(until) == JSON_TEXT) text_add(text, json_text(until));
    for (size_t i = 0; i < json_size(until); i++)
        text_format(text, "%s%s", i > 0 ? " or " : "", json_text(json_at(until, i)));
}

/* ok: fashion-mlp: mlp by adamw and cosine on train, validation, test; until 10ep */
static void print_summary(const struct experiment *experiment) {
    struct text text = {0};
    text_format(&text, "ok: %s: %s by %s", experiment->name,
                experiment->model.manifest->name, experiment->optimizer.manifest->name);
    if (experiment->schedule.manifest)
        text_format(&text, " and %s", experiment->schedule.manifest->name);
    for (size_t i = 0; i < experiment->data_count; i++)
        text_format(&text, "%s %s", i > 0 ? "," : " on", experiment->data[i].split);
    text_add(&text, "; until ");
    add_until(experiment, &text);
    for (size_t i = 0; i < experiment->callback_count; i++)
        text_format(&text, "%s %s", i > 0 ? "," : "; callbacks",
                    experiment->callbacks[i].id);
    if (text.data) text_clean(text.data); /* a name may be a stranger's */
    puts(text.data ? text.data : "");
    text_finish(&text);
}

static lathe_status open_experiment(const char *source, const char *const *overrides,
                                    const char *const *plugin_paths,
                                    struct registry **registry,
                                    struct experiment **experiment,
                                    struct errors *errors) {
    struct error err = {0};
    lathe_status status = registry_open(plugin_paths, NULL, registry, &err);
    if (status == LATHE_OK)
        return experiment_open(source, overrides, *registry, experiment, errors);
    *errors_add(errors) = err;
    return status;
}

static int validate(const char *source, const struct words *overrides,
                    const struct words *plugin_paths, const struct bundle_flags *flags,
                    int is_json) {
    struct errors errors = {0};
    struct registry *registry = NULL;
    struct experiment *experiment = NULL;
    struct bundle_use use = {0};
    struct error err = {0};
    bool is_bundle;
    lathe_status status = bundles_recognise(source, &is_bundle, &err);
    if (status)
        *errors_add(&errors) = err;
    else if (is_bundle)
        status =
            bundles_use(source, flags, plugin_paths, overrides, is_json, &use, &errors);
    if (status == LATHE_OK)
        status = is_bundle
                     ? open_experiment(use.experiment, use.overrides, use.plugin_paths,
                                       &registry, &experiment, &errors)
                     : open_experiment(source, overrides->items, plugin_paths->items,
                                       &registry, &experiment, &errors);
    if (is_json) {
        print_json(&errors, source);
    } else if (experiment) {
        print_summary(experiment);
    }
    for (size_t i = 0; !is_json && i < errors.count; i++)
        command_print_error(&errors.items[i]);
    experiment_close(experiment);
    registry_close(registry);
    bundles_finish(&use);
    errors_finish(&errors);
    return error_exit_code(status);
}

int command_validate(int argc, char **argv) {
    int is_json = 0;
    struct words plugin_paths = {0};
    struct bundle_flags from_bundle = {0};
    const struct flag flags[] = {{"--json", .count = &is_json},
                                 BUNDLE_FLAGS(from_bundle),
                                 {"--plugin-path", "DIR", .values = &plugin_paths},
                                 {.name = NULL}};
    struct arguments arguments = {0};
    struct error err = {0};
    const char *source = NULL;
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (code == 0)
        code =
            arguments_only_word(&arguments, "validate", "an experiment", &source, &err);
    if (code == 0) {
        code = validate(source, &arguments.overrides, &plugin_paths, &from_bundle,
                        is_json);
    } else {
        command_print_error(&err);
    }
    arguments_finish(&arguments);
    return code;
}
