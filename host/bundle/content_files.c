/* SPDX-License-Identifier: MIT */
/* Are the files that bundle.json gives a part to what that part asks for? Of weights
 * the header alone is there to be read. */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "bundle/content_parts.h"
#include "receipt.h"
#include "safetensors.h"

#define EXPERIMENT_NOTE "lathe.experiment"

static lathe_status refuse(struct error *err, const char *path, const char *what) {
    fail(err, LATHE_EDATA, "%s", what);
    error_where(err, "%s", path);
    return LATHE_EDATA;
}

/* ---- what came of the run ---- */

/* `reproduce` compares with the records. */
static lathe_status check_records(const struct bundle *bundle,
                                  const struct json *receipt, struct error *err) {
    const struct bundle_file *file = bundle_find(bundle, BUNDLE_RECORDS);
    const struct json *metrics = json_get(receipt, "metrics");
    if (!file && json_whole(json_get(metrics, "rows")) > 0)
        return refuse(err, BUNDLE_RECEIPT,
                      "it counts records, and " BUNDLE_RECORDS " is not in the bundle");
    if (file && strcmp(file->sha256, json_text(json_get(metrics, "sha256"))) != 0)
        return refuse(err, BUNDLE_RECORDS, "it is not what " BUNDLE_RECEIPT " says");
    return LATHE_OK;
}

/* A bundle of an older lathe does not say what its experiment was. */
static lathe_status check_experiment(const struct bundle *bundle,
                                     const struct json *receipt, struct error *err) {
    const struct bundle_file *file = bundle_find(bundle, BUNDLE_EXPERIMENT);
    const char *said = json_text(json_get(receipt, RECEIPT_PACKED));
    if (!*said || strcmp(file->sha256, said) == 0) return LATHE_OK;
    return refuse(err, BUNDLE_EXPERIMENT, "it is not what " BUNDLE_RECEIPT " is of");
}

void content_check_receipt(const struct bundle *bundle, const char *folder,
                           struct errors *faults) {
    struct json *receipt = NULL;
    struct error err = {0};
    if (!bundle_find(bundle, BUNDLE_RECEIPT)) return;
    lathe_status status = receipt_read(folder, &receipt, &err);
    if (status)
        error_help(&err, "make the bundle again: lathe pack");
    else
        status = check_records(bundle, receipt, &err);
    if (!status) status = check_experiment(bundle, receipt, &err);
    if (status) *errors_add(faults) = err;
    json_close(receipt);
}

/* ---- weights ---- */

/* Of what stands at `path`, a safetensors file. */
static lathe_status check_weights(const char *path, struct error *err) {
    struct safetensors *file = NULL;
    lathe_status status = safetensors_open(path, &file, err);
    safetensors_close(file);
    return status;
}

/* Weights go into no other model; whether all else is as it was, `run --from` tells. */
static lathe_status compare_models(const struct safetensors *file,
                                   const struct experiment *experiment,
                                   const char *path, struct error *err) {
    const char *note = safetensors_note(file, EXPERIMENT_NOTE);
    const struct json *model = json_get(experiment->resolved, "model");
    struct json *before = NULL;
    char was[DIGEST_HEX], is[DIGEST_HEX];
    if (!note)
        return refuse(err, path,
                      "it is no checkpoint of a run: " EXPERIMENT_NOTE " is not there");
    lathe_status status = json_parse(note, strlen(note), EXPERIMENT_NOTE, &before, err);
    if (!status) status = receipt_digest(json_get(before, "model"), was, err);
    if (!status) status = receipt_digest(model, is, err);
    if (!status && strcmp(was, is) != 0)
        status = refuse(err, path,
                        "it is a checkpoint of another model than the one in "
                        "experiment.json");
    json_close(before);
    return status;
}

static lathe_status check_checkpoint(const char *path,
                                     const struct experiment *experiment,
                                     struct error *err) {
    struct safetensors *file = NULL;
    lathe_status status = safetensors_open(path, &file, err);
    if (!status) status = compare_models(file, experiment, path, err);
    safetensors_close(file);
    return status;
}

void content_check_files(const struct bundle *bundle, const char *folder,
                         const struct experiment *experiment, struct errors *faults) {
    const char *weights = experiment->start.weights;
    const size_t length = strlen(folder);
    struct error err = {0};
    const bool is_inside = weights && !strncmp(weights, folder, length) &&
                           weights[length] == '/' &&
                           bundle_find(bundle, weights + length + 1);
    if (is_inside && check_weights(weights, &err)) {
        error_where(&err, "%s: start.weights", BUNDLE_EXPERIMENT);
        *errors_add(faults) = err;
    }
    if (!bundle->checkpoint) return;
    char *path = path_join(folder, bundle->checkpoint);
    lathe_status status = path ? check_checkpoint(path, experiment, &err)
                               : fail(&err, LATHE_ENOMEM, "out of memory");
    if (status) *errors_add(faults) = err;
    free(path);
}
