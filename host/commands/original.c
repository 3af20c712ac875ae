/* SPDX-License-Identifier: MIT */
#include "commands/original.h"

#include <stdlib.h>
#include <string.h>

#include "bundle/magic.h"
#include "commands/runs.h"
#include "receipt.h"

static int open_run(const char *word, struct original *o, struct error *err) {
    char *run = NULL;
    int code = runs_path(word, &run, err);
    if (code) return code;
    lathe_status status = bundles_check_run(run, &o->bundle, err);
    if (status) {
        free(run);
        return error_exit_code(status);
    }
    status = side_open(run, true, &o->side, err);
    if (status == LATHE_ENOTFOUND && runs_is_run(run))
        error_help(err,
                   "the run has no receipt because it has not ended: lathe resume "
                   "%s ends it",
                   run);
    o->path = text_make("%s/resolved.json", run);
    free(run);
    if (!status && !o->path) status = fail(err, LATHE_ENOMEM, "no memory");
    o->name = o->side.run;
    o->source = o->path;
    o->experiment = json_clone(o->side.resolved);
    return error_exit_code(status);
}

/* A bundle of an older lathe does not say what its experiment was. */
static lathe_status check_packed(const char *bundle, const struct original *o,
                                 struct error *err) {
    const char *said = json_text(json_get(o->side.receipt, RECEIPT_PACKED));
    char hex[DIGEST_HEX];
    lathe_status status =
        *said ? digest_file(o->bundle.experiment, NULL, hex, err) : LATHE_OK;
    if (status || !*said || !strcmp(hex, said)) return status;
    fail(err, LATHE_EDATA,
         "\"" BUNDLE_EXPERIMENT "\" is not what its receipt is of: its SHA-256 is "
         "%.12s…, and " BUNDLE_RECEIPT " says %.12s…",
         hex, said);
    error_where(err, "%s", bundle);
    error_help(err, "get the bundle again, or pack the run again: lathe pack RUN");
    return LATHE_EDATA;
}

/* In a bundle are the run's receipt and records; its experiment has other paths, so its
 * digest is not that of the run's. */
static lathe_status open_packed_run(const char *bundle, struct original *o,
                                    struct error *err) {
    lathe_status status = side_open(o->bundle.folder, true, &o->side, err);
    o->side.is_packed = true;
    if (status == LATHE_ENOTFOUND) {
        fail(err, status, "there is no receipt of a run in this bundle");
        error_where(err, "%s", bundle);
        error_help(err, "it is packed with one from a run that has ended: "
                        "lathe pack RUN");
    }
    if (!status) status = check_packed(bundle, o, err);
    if (!status) status = json_read(o->bundle.experiment, &o->experiment, err);
    o->source = o->bundle.experiment;
    o->overrides = (struct words){.items = o->bundle.overrides};
    while (o->overrides.items && o->overrides.items[o->overrides.count])
        o->overrides.count++;
    return status;
}

int original_open(const char *word, const struct bundle_flags *flags,
                  const struct words *plugin_paths, const struct words *overrides,
                  int is_quiet, struct original *o, struct error *err) {
    struct errors errors = {0};
    *o = (struct original){.name = word, .overrides = *overrides};
    if (runs_is_run(word) || !magic_is_bundle(word)) return open_run(word, o, err);
    lathe_status status = bundles_use(word, flags, plugin_paths, overrides, is_quiet,
                                      &o->bundle, &errors);
    if (status)
        *err = errors.items[0];
    else
        status = open_packed_run(word, o, err);
    errors_finish(&errors);
    return error_exit_code(status);
}

const char **original_search(const struct original *o,
                             const struct words *plugin_paths) {
    const struct json *own = json_get(o->side.resolved, "plugin_path");
    const size_t given = plugin_paths->count, more = json_size(own);
    const char **search = calloc(given + more + 2, sizeof *search);
    size_t count = 0;
    if (!search) return NULL;
    if (o->bundle.plugins) search[count++] = o->bundle.plugins;
    for (size_t i = 0; i < given; i++) search[count++] = plugin_paths->items[i];
    for (size_t i = 0; i < more; i++) search[count++] = json_text(json_at(own, i));
    return search;
}

void original_close(struct original *o) {
    side_finish(&o->side);
    json_close(o->experiment);
    bundles_finish(&o->bundle);
    free(o->path);
    *o = (struct original){0};
}
