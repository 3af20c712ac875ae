/* SPDX-License-Identifier: MIT */
#include "commands/fresh_directory.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/path.h"

#define PREFIX ".reproduce-"
#define PREFIX_KEPT ".reproduced-" /* which no sweep of PREFIX removes */

static lathe_status check_asked(const char *asked, const char *run, struct error *err) {
    if (!file_is_inside(asked, run)) return LATHE_OK;
    fail(err, LATHE_ECREATE, "it is in the run that is done again");
    error_where(err, "-o %s", asked);
    error_help(err, "a run's directory holds that run alone: name another");
    return LATHE_ECREATE;
}

static lathe_status stage_in(const char *place, struct fresh_directory *fresh,
                             struct error *err) {
    staging_sweep(place, PREFIX);
    return staging_open(place, fresh->is_kept ? PREFIX_KEPT : PREFIX, &fresh->staging,
                        err);
}

/* Beside the run, where there was room for one, or else where temporary files go. The
 * parent of the new one is never called "runs", so "latest" stays what it is. */
static lathe_status stage(const struct original *original,
                          struct fresh_directory *fresh, struct error *err) {
    char *run = original->bundle.folder ? NULL : realpath(original->side.run, NULL);
    char *beside = path_directory(run ? run : "./bundle");
    lathe_status status = beside ? stage_in(beside, fresh, err)
                                 : fail(err, LATHE_ENOMEM, "no memory for a path");
    if (status == LATHE_ECREATE || status == LATHE_EPERM)
        status = stage_in(file_temporary(), fresh, err);
    free(beside);
    free(run);
    return status;
}

lathe_status fresh_directory_open(const char *asked, const struct original *original,
                                  bool is_kept, struct fresh_directory *fresh,
                                  struct error *err) {
    *fresh = (struct fresh_directory)FRESH_DIRECTORY_NONE;
    fresh->is_kept = is_kept;
    lathe_status status = asked ? check_asked(asked, original->side.run, err)
                                : stage(original, fresh, err);
    if (status) return status;
    fresh->path = asked ? text_copy(asked) : path_join(fresh->staging.path, "run");
    if (!fresh->path) return fail(err, LATHE_ENOMEM, "no memory for a path");
    *err = (struct error){0}; /* of a place that could not be written to */
    return LATHE_OK;
}

bool fresh_directory_is_temporary(const struct fresh_directory *fresh) {
    return fresh->staging.path && !fresh->is_kept;
}

void fresh_directory_close(struct fresh_directory *fresh) {
    if (fresh->is_kept) staging_keep(&fresh->staging);
    staging_close(&fresh->staging);
    free(fresh->path);
    fresh->path = NULL;
}
