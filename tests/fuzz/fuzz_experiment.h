/* SPDX-License-Identifier: MIT */
/* An experiment's text with overrides, against the manifests of the build's plugins: it
 * opens, and what it resolves to opens again as the same, or it is refused with
 * reasons. No plugin is opened. */
#ifndef TESTS_FUZZ_FUZZ_EXPERIMENT_H
#define TESTS_FUZZ_FUZZ_EXPERIMENT_H

#include "fuzz.h"

#include "experiment.h"

/* The build's own: found from the program's place, or in $BUILD. */
static inline const struct registry *fuzz_registry(void) {
    static struct registry *registry;
    const struct manifest *manifest = NULL;
    struct error err = {0};
    if (registry) return registry;
    const char *build = getenv("BUILD");
    char *folder = text_make("%s/plugins", build ? build : ".");
    const char *const paths[] = {folder, NULL};
    lathe_status status = registry_open(paths, NULL, &registry, &err);
    FUZZ_CHECK_FOUND(status == LATHE_OK, err.what);
    status = registry_find(registry, LATHE_KIND_MODEL, "mlp", &manifest, &err);
    FUZZ_CHECK_FOUND(status == LATHE_OK, err.what);
    free(folder);
    return registry;
}

/* The last override is in force, whatever those before it were about. */
static inline void fuzz_check_origins(const struct experiment *experiment) {
    for (size_t i = 0; i < experiment->override_count; i++) {
        const char *path = experiment->override_paths[i];
        FUZZ_CHECK(path);
        const char *origin = experiment_origin(experiment, path);
        if (i + 1 == experiment->override_count)
            FUZZ_CHECK_FOUND(!strcmp(origin, "command line"), path);
    }
}

static inline void fuzz_check_resolved(const struct experiment *experiment) {
    struct text text = {0};
    struct experiment *again = NULL;
    struct errors errors = {0};
    experiment_write_resolved(experiment, NULL, NULL, NULL, &text);
    FUZZ_CHECK(!text.is_broken && text.data);
    experiment_open(text.data, NULL, fuzz_registry(), &again, &errors);
    FUZZ_CHECK_FOUND(again, errors.count ? errors.items[0].what : "");
    FUZZ_CHECK_FOUND(json_same(experiment->resolved, again->resolved), text.data);
    FUZZ_CHECK(experiment->seed == again->seed);
    experiment_close(again);
    errors_finish(&errors);
    text_finish(&text);
}

/* overrides: NULL-ended, or NULL. */
static inline void fuzz_experiment(const char *text, const char *const *overrides) {
    struct experiment *experiment = NULL;
    struct errors errors = {0};
    lathe_status status =
        experiment_open(text, overrides, fuzz_registry(), &experiment, &errors);
    FUZZ_CHECK((status == LATHE_OK) == (experiment != NULL));
    FUZZ_CHECK((status == LATHE_OK) == (errors.count == 0));
    for (size_t i = 0; i < errors.count; i++) fuzz_check_error(&errors.items[i]);
    errors_finish(&errors);
    if (!experiment) return;
    FUZZ_CHECK(experiment->train.batch >= 1 && experiment->train.accumulate >= 1);
    FUZZ_CHECK(experiment->model.manifest && experiment->optimizer.manifest);
    fuzz_check_origins(experiment);
    fuzz_check_resolved(experiment);
    experiment_close(experiment);
}

#endif
