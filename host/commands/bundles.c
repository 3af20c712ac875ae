/* SPDX-License-Identifier: MIT */
#include "commands/bundles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "bundle/machine.h"
#include "bundle/magic.h"
#include "bundle/outside.h"
#include "bundle/shelf.h"
#include "commands/bundle_plugins.h"
#include "rundir.h"
#include "safetensors.h"

/* ---- opening ---- */

static lathe_status refuse(const struct signature *signature, const char *path,
                           struct error *err) {
    *err = signature->reason;
    if (!err->where[0]) error_where(err, "%s", path);
    return err->status;
}

static lathe_status begin(struct intake **intake, lathe_status status,
                          const struct bundle **bundle, struct error *err) {
    if (!status) status = intake_begin(*intake, bundle, err);
    if (!status) return LATHE_OK;
    intake_close(*intake);
    *intake = NULL;
    *bundle = NULL;
    return status;
}

lathe_status bundles_look(const char *path, const char *key,
                          struct signature *signature, struct intake **intake,
                          const struct bundle **bundle, struct error *err) {
    *signature = (struct signature){0};
    lathe_status status = intake_open(path, intake, err);
    if (status) return status;
    status = signature_look(*intake, key, signature, err);
    const bool is_wrong = signature->check.verdict == KEYS_WRONG;
    if (!status && (is_wrong || (key && signature->decision == KEYS_REFUSE)))
        status = refuse(signature, path, err);
    return begin(intake, status, bundle, err);
}

lathe_status bundles_open(const char *path, struct intake **intake,
                          const struct bundle **bundle, struct error *err) {
    struct signature signature;
    lathe_status status = intake_open(path, intake, err);
    if (status) return status;
    status = signature_look(*intake, NULL, &signature, err);
    if (!status && signature.decision == KEYS_REFUSE)
        status = refuse(&signature, path, err);
    if (!status && signature.decision == KEYS_ACCEPT_AND_WARN)
        fprintf(stderr, "lathe: warning: %s: %s\n", path, signature.reason.what);
    signature_finish(&signature);
    return begin(intake, status, bundle, err);
}

lathe_status bundles_recognise(const char *word, bool *is_bundle, struct error *err) {
    *is_bundle = magic_is_bundle(word);
    const char *guess = *is_bundle ? NULL : magic_name(word);
    if (!guess) return LATHE_OK;
    fail(err, LATHE_EINVAL,
         "it is neither an experiment, which is JSON, nor a bundle: "
         "it looks like %s",
         guess);
    error_where(err, "%s", word);
    return LATHE_EINVAL;
}

/* ---- data ---- */

struct placing {
    const struct bundle *bundle;
    const struct bundle_flags *flags;
    const struct words *overrides; /* that were given */
    struct bundle_use *use;
};

/* Does the user give another value for the setting, or for what it is in? */
static bool is_overridden(const char *setting, const struct words *overrides) {
    for (size_t i = 0; i < overrides->count; i++) {
        const size_t length = strcspn(overrides->items[i], "=");
        if (!strncmp(setting, overrides->items[i], length) &&
            (!setting[length] || setting[length] == '.'))
            return true;
    }
    return false;
}

/* Takes `override` over. */
static lathe_status add_override(struct bundle_use *use, char *override,
                                 struct error *err) {
    if (!override) return fail(err, LATHE_ENOMEM, "out of memory");
    use->made[use->made_count++] = override;
    use->overrides[use->override_count++] = override;
    return LATHE_OK;
}

static lathe_status find_data(const struct placing *p, const struct bundle_file *file,
                              struct error *err) {
    char *path = NULL;
    lathe_status status = LATHE_OK;
    for (size_t i = 0; i < json_size(file->used_by) && !status; i++) {
        const char *setting = json_text(json_at(file->used_by, i));
        if (is_overridden(setting, p->overrides)) continue;
        if (!path) status = outside_find(file, p->flags->data.items, &path, err);
        if (!status)
            status = add_override(p->use, text_make("%s=%s", setting, path), err);
    }
    free(path);
    return status;
}

/* A file that the user names is where the user is, not in the store. */
static lathe_status give_override(const struct placing *p, const char *override,
                                  struct error *err) {
    const size_t length = strcspn(override, "=");
    const char *value = override + length + 1;
    if (!override[length] || !*value || strchr("/\"[{", *value) ||
        !bundle_has_setting(p->bundle, override, length)) {
        p->use->overrides[p->use->override_count++] = override;
        return LATHE_OK;
    }
    char *path = path_absolute(value);
    lathe_status status = add_override(
        p->use, path ? text_make("%.*s=%s", (int)length, override, path) : NULL, err);
    free(path);
    return status;
}

static lathe_status make_room(const struct placing *p, struct error *err) {
    size_t most = p->overrides->count;
    for (size_t i = 0; i < p->bundle->outside_count; i++)
        most += json_size(p->bundle->outside[i].used_by);
    p->use->overrides = calloc(most + 1, sizeof *p->use->overrides);
    p->use->made = calloc(most + 1, sizeof *p->use->made);
    return p->use->overrides && p->use->made ? LATHE_OK
                                             : fail(err, LATHE_ENOMEM, "out of memory");
}

/* Goes on after a fault, so that all data that is missing is named at once. */
static lathe_status place_data(const struct placing *p, struct errors *errors) {
    struct error err = {0};
    lathe_status status = make_room(p, &err);
    if (status) {
        *errors_add(errors) = err;
        return status;
    }
    for (size_t i = 0; i < p->bundle->outside_count; i++) {
        const lathe_status found = find_data(p, &p->bundle->outside[i], &err);
        if (found) *errors_add(errors) = err;
        if (!status) status = found;
    }
    for (size_t i = 0; i < p->overrides->count; i++) {
        const lathe_status given = give_override(p, p->overrides->items[i], &err);
        if (given) *errors_add(errors) = err;
        if (!status) status = given;
    }
    return status;
}

/* ---- plugins ---- */

static lathe_status place_plugins(const struct words *given, struct bundle_use *use,
                                  struct error *err) {
    use->plugins = path_join(use->folder, "plugins");
    use->plugin_paths = calloc(given->count + 2, sizeof *use->plugin_paths);
    if (!use->plugins || !use->plugin_paths)
        return fail(err, LATHE_ENOMEM, "out of memory");
    use->plugin_paths[0] = use->plugins;
    for (size_t i = 0; i < given->count; i++)
        use->plugin_paths[i + 1] = given->items[i];
    return LATHE_OK;
}

/* ---- the whole ---- */

static lathe_status put_on_shelf(struct intake *intake, const struct bundle *bundle,
                                 const struct bundle_flags *flags,
                                 struct bundle_use *use, struct error *err) {
    char *place = NULL;
    bool is_mended = false;
    lathe_status status = shelf_place(flags->store, &place, err);
    if (!status)
        status =
            shelf_put(place, intake, bundle, &use->folder, &use->hold, &is_mended, err);
    use->is_held = !status;
    if (is_mended)
        fprintf(stderr, "lathe: warning: the bundle was changed in the store, and is "
                        "unpacked anew\n");
    free(place);
    if (status) return status;
    use->experiment = path_join(use->folder, BUNDLE_EXPERIMENT);
    if (bundle->checkpoint)
        use->checkpoint = path_join(use->folder, bundle->checkpoint);
    if (!use->experiment || (bundle->checkpoint && !use->checkpoint))
        return fail(err, LATHE_ENOMEM, "out of memory");
    return LATHE_OK;
}

lathe_status bundles_use(const char *word, const struct bundle_flags *flags,
                         const struct words *plugin_paths,
                         const struct words *overrides, int is_quiet,
                         struct bundle_use *use, struct errors *errors) {
    struct intake *intake = NULL;
    const struct bundle *bundle = NULL;
    struct error err = {0};
    *use = (struct bundle_use){0};
    lathe_status status = outside_check_folders(flags->data.items, &err);
    if (!status) status = bundles_open(word, &intake, &bundle, &err);
    if (!status) machine_check(bundle, errors);
    if (!status && errors->count) status = errors->items[0].status;
    if (bundle) {
        const lathe_status found =
            place_data(&(struct placing){bundle, flags, overrides, use}, errors);
        if (!status) status = found;
    }
    if (!status) status = put_on_shelf(intake, bundle, flags, use, &err);
    if (!status) status = place_plugins(plugin_paths, use, &err);
    if (!status)
        status = bundle_plugins_look(
            &(struct bundle_plugins){bundle, use->folder, use->experiment,
                                     use->plugin_paths, use->overrides},
            is_quiet, &err);
    if (err.status) *errors_add(errors) = err;
    intake_close(intake);
    return status;
}

void bundles_finish(struct bundle_use *use) {
    for (size_t i = 0; i < use->made_count; i++) free(use->made[i]);
    if (use->is_held) close(use->hold);
    free(use->made);
    free(use->overrides);
    free(use->plugin_paths);
    free(use->plugins);
    free(use->experiment);
    free(use->checkpoint);
    free(use->folder);
    *use = (struct bundle_use){0};
}

static struct words words_of(const char *const *items) {
    struct words words = {(const char **)items, 0};
    while (items && items[words.count]) words.count++;
    return words;
}

int bundles_replace(lathe_session_options *options, const struct bundle_flags *flags,
                    int is_quiet, struct bundle_use *use, struct error *err) {
    *use = (struct bundle_use){0};
    bool is_bundle = false;
    lathe_status status = LATHE_OK;
    if (options->experiment)
        status = bundles_recognise(options->experiment, &is_bundle, err);
    if (!is_bundle) return error_exit_code(status);
    const struct words paths = words_of(options->plugin_paths);
    const struct words overrides = words_of(options->overrides);
    struct errors errors = {0};
    status = bundles_use(options->experiment, flags, &paths, &overrides, is_quiet, use,
                         &errors);
    if (status)
        *err = errors.items[0];
    else {
        options->experiment = use->experiment;
        options->plugin_paths = use->plugin_paths;
        options->overrides = use->overrides;
    }
    errors_finish(&errors);
    return error_exit_code(status);
}

int bundles_checkpoint(const char *path, const struct bundle_flags *flags,
                       struct bundle_use *use, struct error *err) {
    struct intake *intake = NULL;
    const struct bundle *bundle = NULL;
    *use = (struct bundle_use){0};
    lathe_status status = bundles_open(path, &intake, &bundle, err);
    if (!status && !bundle->checkpoint) {
        status = fail(err, LATHE_ENOTFOUND, "there is no checkpoint in this bundle");
        error_where(err, "%s", path);
        error_help(err, "it is packed with one by: lathe pack … --with-checkpoint RUN");
    }
    if (!status) status = put_on_shelf(intake, bundle, flags, use, err);
    intake_close(intake);
    return error_exit_code(status);
}

/* ---- runs ---- */

/* The policy may be another than when it was unpacked. A warning was given then. */
static lathe_status check_policy(const char *folder, struct error *err) {
    struct signature signature;
    lathe_status status = signature_look_unpacked(folder, &signature, err);
    if (!status && signature.decision == KEYS_REFUSE) {
        status = refuse(&signature, folder, err);
        error_where(err, "the bundle that this run is of");
        if (signature.check.verdict == KEYS_UNSIGNED)
            error_help(err,
                       "if you have it signed: lathe store prune %.8s, and unpack "
                       "that one",
                       shelf_id(path_name(folder)));
    }
    signature_finish(&signature);
    return status;
}

/* What a run, or that of a checkpoint, was made of; NULL: nothing that can be read,
 * which is for others to tell. The caller's. */
static struct json *read_resolved(const char *run) {
    struct json *resolved;
    struct safetensors *file = NULL;
    rundir_read_json(run, "resolved.json", &resolved, NULL);
    if (!resolved && !safetensors_open(run, &file, NULL)) {
        const char *note = safetensors_note(file, "lathe.experiment");
        if (note) json_parse(note, strlen(note), run, &resolved, NULL);
    }
    safetensors_close(file);
    return resolved;
}

lathe_status bundles_check_run(const char *run, struct bundle_use *use,
                               struct error *err) {
    struct json *resolved = read_resolved(run);
    lathe_status status = LATHE_OK;
    const char *plugins = json_text(json_at(json_get(resolved, "plugin_path"), 0));
    char *folder = *plugins ? path_directory(plugins) : NULL;
    const char *name = folder ? path_name(folder) : "";
    if (shelf_id(name)) {
        use->is_held = !shelf_hold(folder, &use->hold, NULL); /* else the next tells */
        status = shelf_check(folder, NULL, err);
        if (status == LATHE_ENOTFOUND)
            fail(err, status, "the bundle that this run is of is not in the store");
        if (status) error_where(err, "%s", folder);
        if (status && status != LATHE_EPERM)
            error_help(err,
                       "unpack it there again: lathe unpack FILE.lathe --store %.*s",
                       (int)(name - folder), folder);
        if (!status) status = check_policy(folder, err);
    }
    free(folder);
    json_close(resolved);
    return status;
}
