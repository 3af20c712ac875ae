/* SPDX-License-Identifier: MIT */
/* What the files of experiment share while one is being opened; nobody else includes
 * it. */
#ifndef HOST_EXPERIMENT_PARTS_H
#define HOST_EXPERIMENT_PARTS_H

#include "experiment.h"
#include "options.h"

#define EXPERIMENT_FILE_SHOWN 200 /* bytes of the file's name in an error's where */

struct claim {
    uint32_t kind;
    const char *id, *path;
};

struct opening {
    struct experiment *experiment;
    const struct registry *registry;
    struct errors *errors;
    struct json *schema; /* of the fixed part */
    /* Names that the model and the callbacks so far declare; borrowed from
     * manifests. */
    const char **metrics;
    size_t metric_count;
    bool is_metrics_open; /* a plugin is unknown, so there may be others */
    struct claim *claims; /* ids that are taken */
    size_t claim_count;
    bool has_begun; /* the run of this experiment, or its first stage */
    bool is_broken; /* out of memory */
};

/* Adds a LATHE_EINVAL at an override path, "" for the file as a whole, with help or "";
 * borrowed. */
__attribute__((format(printf, 4, 5))) struct error *experiment_fault(
    struct opening *opening, const char *path, const char *help, const char *format,
    ...);
/* Passes memory through; notes when there was none. */
char *experiment_keep(struct opening *opening, char *memory);

/* ---- experiment_overrides.c ---- */

/* Puts all overrides into `written`. */
void experiment_override(struct opening *opening);

/* ---- experiment_uses.c ---- */

/* Finds every plugin in use and checks its options, in the order in which metrics are
 * declared: model, data, optimizer, schedule, callbacks. */
void experiment_find_uses(struct opening *opening);
void experiment_finish_use(struct use *use);

/* Checks an object's options against a manifest; `reserved` names are left alone. */
void experiment_check_options(struct opening *opening, struct use *use,
                              struct json *object, const char *const *reserved);

/* Makes the path of a file absolute. Is it there, and can it be read? */
void experiment_check_file(struct opening *opening, const char *path,
                           struct json *value);
void experiment_resolve_path(struct opening *opening, struct json *value);

/* ---- experiment_groups.c ---- */

/* Reads optimizer.groups, once the optimizer itself is known and without fault. */
void experiment_find_groups(struct opening *opening, struct json *optimizer);
void experiment_finish_groups(struct experiment *experiment);

/* ---- experiment_metrics.c ---- */

/* From now on, the metrics of this plugin are there to be watched. */
void experiment_declare_metrics(struct opening *opening,
                                const struct manifest *manifest);
void experiment_check_metric(struct opening *opening, const char *path,
                             const char *name);
void experiment_read_expectations(struct opening *opening);

/* ---- experiment_stages.c ---- */

/* Leaves the first stage in `written`. */
void experiment_take_stages(struct opening *opening);
/* Opens the others, once the first is known. */
void experiment_open_stages(struct opening *opening);
void experiment_close_stages(struct experiment *experiment);
/* As experiment_open, of JSON that stands for (part of) a file; it is taken over. */
void experiment_open_as(struct json *given, const char *file, const char *directory,
                        const struct registry *registry, struct experiment **experiment,
                        struct errors *errors);

/* ---- experiment_train.c ---- */

/* Defaults that depend on other values, and what one value forbids another. */
void experiment_check_train(struct opening *opening);
/* Once there are no errors. */
void experiment_read_train(struct experiment *experiment);

/* ---- experiment_start.c ---- */

void experiment_check_start(struct opening *opening);
/* Once there are no errors. */
void experiment_read_start(struct experiment *experiment);

/* ---- experiment_resolved.c ---- */

/* The index that a part of a path means: digits, or in the list of callbacks the id of
 * the first that has it; the count when there is none. */
size_t experiment_index(const struct json *list, const char *part, bool is_callbacks);
const char *experiment_callback_id(const struct json *callback);

#endif
