/* SPDX-License-Identifier: MIT */
#include "commands/bundle_page.h"

#include <stdio.h>
#include <string.h>

#include "commands/bundles.h"
#include "commands/entries.h"

#define EXPERIMENT_MAX ((int64_t)4 << 20) /* bytes of one that is shown */

/* ---- reading ---- */

/* Keeps experiment.json. */
struct reading {
    struct text experiment;
    bool is_it;
};

static lathe_status begin(void *context, const struct bundle_file *file,
                          struct error *err) {
    struct reading *reading = context;
    reading->is_it = !strcmp(file->path, BUNDLE_EXPERIMENT);
    if (!reading->is_it || file->size <= EXPERIMENT_MAX) return LATHE_OK;
    return fail(err, LATHE_EDATA, "its experiment has more than %d MiB",
                (int)(EXPERIMENT_MAX >> 20));
}

static lathe_status add(void *context, const void *bytes, size_t count,
                        struct error *err) {
    struct reading *reading = context;
    if (reading->is_it) text_add_bytes(&reading->experiment, bytes, count);
    return reading->experiment.is_broken ? fail(err, LATHE_ENOMEM, "out of memory")
                                         : LATHE_OK;
}

static lathe_status read_all(struct intake *intake, const char *path,
                             struct json **experiment, struct error *err) {
    struct reading reading = {0};
    const struct intake_sink sink = {&reading, begin, add, NULL};
    lathe_status status = intake_files(intake, &sink, err);
    if (!status) {
        status =
            json_parse(reading.experiment.data ? reading.experiment.data : "",
                       reading.experiment.length, BUNDLE_EXPERIMENT, experiment, err);
        if (status == LATHE_EINVAL) status = err->status = LATHE_EDATA;
        if (status) error_where(err, "%s", path);
    }
    text_finish(&reading.experiment);
    return status;
}

/* ---- for people ---- */

/* "path  size  SHA-256", a line each, under a title; nothing for none. */
static void add_files(const char *title, const struct bundle_file *files, size_t count,
                      struct text *text) {
    int width = 0;
    for (size_t i = 0; i < count; i++)
        if ((int)strlen(files[i].path) > width) width = (int)strlen(files[i].path);
    if (count) text_format(text, "\n%s\n", title);
    for (size_t i = 0; i < count; i++) {
        struct text size = {0};
        bundle_add_size(files[i].size, &size);
        text_format(text, "  %-*s  %10s  %s\n", width, files[i].path,
                    size.data ? size.data : "?", files[i].sha256);
        for (size_t k = 0; k < json_size(files[i].used_by); k++)
            text_format(text, "  %-*s  for %s\n", width, "",
                        json_text(json_at(files[i].used_by, k)));
        text_finish(&size);
    }
}

static void add_head(const struct bundle *bundle, const struct signature *signature,
                     struct text *text) {
    text_format(text, "%s, a bundle of format %s, packed by lathe %s\n\n", bundle->name,
                BUNDLE_FORMAT, bundle->lathe);
    text_format(text, "id         %s\n", bundle->id);
    text_add(text, "content    ");
    bundle_add_size(bundle->total, text);
    text_format(text, " in %zu files, all as listed\n", bundle->file_count);
    text_add(text, "signature  ");
    signature_add_line(signature, text);
    text_add(text, "\n");
    text_format(text, "machine    %s, glibc %u.%u or newer\n", bundle->machine,
                bundle->glibc[0], bundle->glibc[1]);
    text_format(text, "abi        needs 1.%u or newer, built with up to 1.%u\n",
                bundle->abi_needs, bundle->abi_built);
    text_add(text, "libraries  ");
    for (size_t i = 0; i < json_size(bundle->libraries); i++)
        text_format(text, "%s%s", i ? ", " : "",
                    json_text(json_at(bundle->libraries, i)));
    text_add(text, json_size(bundle->libraries) ? "\n" : "none\n");
    if (bundle->checkpoint) text_format(text, "checkpoint %s\n", bundle->checkpoint);
}

static void add_page(const struct bundle *bundle, const struct signature *signature,
                     const struct json *experiment, struct text *text) {
    add_head(bundle, signature, text);
    text_add(text, "\nplugins\n");
    for (size_t i = 0; i < bundle->plugin_count; i++) {
        const struct bundle_plugin *plugin = &bundle->plugins[i];
        text_format(text, "  %s/%s %s%s%s\n", plugin->kind, plugin->name,
                    plugin->version, *plugin->license ? ", " : "", plugin->license);
    }
    add_files("files", bundle->files, bundle->file_count, text);
    add_files("data that is not in it", bundle->outside, bundle->outside_count, text);
    text_add(text, "\nexperiment\n");
    json_write(experiment, text, 2);
    text_add(text, "\n");
}

/* ---- as JSON ---- */

/* bundle.json as it is, with what it does not say of itself. */
static void add_json(const struct bundle *bundle, const struct signature *signature,
                     const struct json *experiment, struct text *text) {
    struct json *root = json_clone(bundle->root);
    root = json_add(root, "id", json_make_text(bundle->id));
    root = json_add(root, "signature", signature_json(signature));
    root = json_add(root, "experiment", json_clone(experiment));
    json_write_document(root, text, 2);
}

lathe_status bundle_page_print(const char *path, int is_json, struct error *err) {
    struct intake *intake = NULL;
    const struct bundle *bundle = NULL;
    struct json *experiment = NULL;
    struct text text = {0};
    struct signature signature;
    lathe_status status = bundles_look(path, NULL, &signature, &intake, &bundle, err);
    if (!status) status = read_all(intake, path, &experiment, err);
    if (!status) {
        if (is_json)
            add_json(bundle, &signature, experiment, &text);
        else
            add_page(bundle, &signature, experiment, &text);
        status = entries_print(&text, !is_json, err);
    }
    text_finish(&text);
    json_close(experiment);
    signature_finish(&signature);
    intake_close(intake);
    return status;
}
