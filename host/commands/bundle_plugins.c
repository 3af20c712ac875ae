/* SPDX-License-Identifier: MIT */
#include "commands/bundle_plugins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/content.h"
#include "bundle/uses.h"

struct looking {
    const struct bundle_plugins *plugins;
    const struct registry *registry;
    struct text own, others, replaced;
    struct error *err;
};

/* An installed plugin that would have been used without the bundle. */
static const struct manifest *find_shadowed(const struct registry *registry,
                                            const struct manifest *manifest) {
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct registry_entry *entry = registry_at(registry, i);
        if (entry->status == REGISTRY_SHADOWED && entry->manifest &&
            entry->manifest->kind == manifest->kind &&
            !strcmp(entry->manifest->name, manifest->name))
            return entry->manifest;
    }
    return NULL;
}

/* Adds it unless it is in the list already; false: it was. */
static bool add_name(struct text *list, const struct manifest *manifest) {
    char *name = text_make("%s/%s %s", manifest_kind_name(manifest->kind),
                           manifest->name, manifest->version);
    const char *at = name && list->data ? strstr(list->data, name) : NULL;
    const char behind = at ? at[strlen(name)] : 'x';
    const bool is_new = name && behind != '\0' && behind != ',';
    if (is_new) text_format(list, "%s%s", list->length ? ", " : "", name);
    free(name);
    return is_new;
}

static lathe_status refuse(const struct looking *looking,
                           const struct manifest *manifest) {
    const char *kind = manifest_kind_name(manifest->kind);
    const struct registry_entry *entry =
        registry_refused(looking->registry, manifest->kind, manifest->name);
    fail(looking->err, LATHE_EMISSING, "the %s/%s of the bundle cannot be used: %s",
         kind, manifest->name,
         entry ? entry->reason.what : "it is not what it is called");
    error_where(looking->err, "%s", entry ? entry->path : looking->plugins->folder);
    error_help(looking->err,
               "\"lathe verify\" says what else is wrong with the bundle");
    return LATHE_EMISSING;
}

static lathe_status look_at_use(void *context, const char *stage,
                                const struct use *use) {
    struct looking *looking = context;
    const struct manifest *manifest = use->manifest;
    const char *folder = looking->plugins->folder;
    (void)stage;
    if (!strncmp(manifest->library_path, folder, strlen(folder))) {
        const struct manifest *other = find_shadowed(looking->registry, manifest);
        if (add_name(&looking->own, manifest) && other)
            add_name(&looking->replaced, other);
        return LATHE_OK;
    }
    if (bundle_has_plugin(looking->plugins->bundle, manifest_kind_name(manifest->kind),
                          manifest->name))
        return refuse(looking, manifest);
    add_name(&looking->others, manifest);
    return LATHE_OK;
}

static lathe_status look_at_paths(const struct bundle_plugins *plugins,
                                  const struct experiment *experiment,
                                  struct error *err) {
    struct errors faults = {0};
    content_check_paths(plugins->bundle, plugins->folder, experiment,
                        plugins->overrides, &faults);
    if (faults.count) *err = faults.items[0];
    const lathe_status status = faults.count ? err->status : LATHE_OK;
    errors_finish(&faults);
    return status;
}

static void say(const struct looking *looking) {
    const struct bundle *bundle = looking->plugins->bundle;
    fprintf(stderr, "bundle %s (%.12s…) in %s\nits plugins are used: %s\n",
            bundle->name, bundle->id, looking->plugins->folder,
            looking->own.data ? looking->own.data : "none");
    if (looking->replaced.length)
        fprintf(stderr, "… in place of those installed here: %s\n",
                looking->replaced.data);
    if (looking->others.length)
        fprintf(stderr, "… and of those installed here: %s\n", looking->others.data);
}

lathe_status bundle_plugins_look(const struct bundle_plugins *plugins, int is_quiet,
                                 struct error *err) {
    struct registry *registry = NULL;
    struct experiment *experiment = NULL;
    struct errors errors = {0};
    lathe_status status = registry_open(plugins->plugin_paths, NULL, &registry, NULL);
    struct looking looking = {.plugins = plugins, .registry = registry, .err = err};
    if (!status)
        status = experiment_reopen(plugins->experiment, plugins->overrides, registry,
                                   &experiment, &errors);
    const bool is_wrong = status != LATHE_OK;
    if (!status) status = uses_each(experiment, &looking, look_at_use);
    if (!status) status = look_at_paths(plugins, experiment, err);
    if (!status && !is_quiet) say(&looking);
    text_finish(&looking.own);
    text_finish(&looking.others);
    text_finish(&looking.replaced);
    experiment_close(experiment);
    registry_close(registry);
    errors_finish(&errors);
    return is_wrong ? LATHE_OK : status;
}
