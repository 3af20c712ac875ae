/* SPDX-License-Identifier: MIT */
/* Can the experiment be made of what is in the bundle, and of nothing else? */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "bundle/content_parts.h"
#include "bundle/uses.h"

struct looking {
    const struct bundle *bundle;
    const char *folder;
    struct errors *faults;
};

static lathe_status look_at_use(void *context, const char *stage,
                                const struct use *use) {
    const struct looking *looking = context;
    const struct manifest *manifest = use->manifest;
    const char *folder = looking->folder;
    const char *kind = manifest_kind_name(manifest->kind);
    if (!strncmp(manifest->library_path, folder, strlen(folder)) ||
        bundle_has_plugin(looking->bundle, kind, manifest->name))
        return LATHE_OK; /* or its faults were told already */
    struct error *err = errors_add(looking->faults);
    fail(err, LATHE_EMISSING, "%s/%s is used, and is not in the bundle", kind,
         manifest->name);
    error_where(err, "%s: %s%s", BUNDLE_EXPERIMENT, stage, use->path);
    error_help(err, "one that is installed here would be taken: %s",
               manifest->library_path);
    return LATHE_OK;
}

/* Once a plugin was told to be faulty, that it is missing is not told as well. */
static void take_faults(const struct errors *from, bool is_told,
                        struct errors *faults) {
    for (size_t i = 0; i < from->count; i++) {
        if (is_told && from->items[i].status == LATHE_EMISSING) continue;
        *errors_add(faults) = from->items[i];
    }
}

void content_check_experiment(const struct bundle *bundle, const char *folder,
                              const struct registry *registry, struct errors *faults) {
    const bool is_told = faults->count > 0;
    char *path = path_join(folder, BUNDLE_EXPERIMENT);
    struct experiment *experiment = NULL;
    struct errors own = {0};
    struct looking looking = {bundle, folder, faults};
    lathe_status status = LATHE_ENOMEM;
    if (path) status = experiment_open(path, NULL, registry, &experiment, &own);
    take_faults(&own, is_told, faults);
    if (!status) status = uses_each(experiment, &looking, look_at_use);
    if (!status) {
        content_check_paths(bundle, folder, experiment, NULL, faults);
        content_check_files(bundle, folder, experiment, faults);
    } else if (!own.count) {
        fail(errors_add(faults), LATHE_ENOMEM, "out of memory");
    }
    experiment_close(experiment);
    errors_finish(&own);
    free(path);
}
