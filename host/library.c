/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <lathe/callback.h>
#include <lathe/dataset.h>
#include <lathe/model.h>
#include <lathe/optimizer.h>
#include <lathe/schedule.h>

#include "base/path.h"
#include "guard.h"
#include "plugin.h"

#define HOST_MINOR LATHE_ABI_MINOR

struct requirement {
    const char *name;
    size_t offset;
};

/* What the ABI asks of each kind. The sizes are those of 1.0, for ever. */
struct contract {
    uint32_t kind, size;
    const struct requirement *required; /* ended by a NULL name */
};

#define NEEDS(type, member)                                                            \
    { #member, offsetof(type, member) }
static const struct requirement dataset_ops[] = {
    NEEDS(lathe_dataset_ops, describe), NEEDS(lathe_dataset_ops, read), {NULL, 0}};
static const struct requirement model_ops[] = {NEEDS(lathe_model_ops, describe),
                                               NEEDS(lathe_model_ops, bind),
                                               NEEDS(lathe_model_ops, forward),
                                               NEEDS(lathe_model_ops, backward),
                                               {NULL, 0}};
static const struct requirement optimizer_ops[] = {NEEDS(lathe_optimizer_ops, step),
                                                   {NULL, 0}};
static const struct requirement schedule_ops[] = {NEEDS(lathe_schedule_ops, factor),
                                                  {NULL, 0}};
static const struct requirement callback_ops[] = {{NULL, 0}};

static const struct contract contracts[] = {
    {LATHE_KIND_DATASET, LATHE_DATASET_OPS_SIZE_1_0, dataset_ops},
    {LATHE_KIND_MODEL, LATHE_MODEL_OPS_SIZE_1_0, model_ops},
    {LATHE_KIND_OPTIMIZER, LATHE_OPTIMIZER_OPS_SIZE_1_0, optimizer_ops},
    {LATHE_KIND_SCHEDULE, LATHE_SCHEDULE_OPS_SIZE_1_0, schedule_ops},
    {LATHE_KIND_CALLBACK, LATHE_CALLBACK_OPS_SIZE_1_0, callback_ops},
};

static const struct contract *find_contract(uint32_t kind) {
    for (size_t i = 0; i < sizeof contracts / sizeof *contracts; i++)
        if (contracts[i].kind == kind) return &contracts[i];
    return NULL;
}

static bool is_null(const void *ops, size_t offset) {
    void (*const *slot)(void) =
        (void (*const *)(void))(const void *)((const char *)ops + offset);
    return !*slot;
}

static lathe_status check_ops(const lathe_plugin *entry, struct error *err) {
    const struct contract *contract = find_contract(entry->kind);
    const lathe_any_ops *ops = entry->ops;
    if (!contract)
        return fail(err, LATHE_EMISSING, "kind %u is not one this host knows",
                    entry->kind);
    if (!ops) return fail(err, LATHE_EMISSING, "its table of functions is NULL");
    if (ops->size < contract->size)
        return fail(err, LATHE_EMISSING,
                    "its table of functions has %u bytes, less than the %u of ABI 1.0",
                    ops->size, contract->size);
    if (is_null(ops, offsetof(lathe_any_ops, create)))
        return fail(err, LATHE_EMISSING, "its mandatory function \"create\" is NULL");
    for (const struct requirement *r = contract->required; r->name; r++)
        if (is_null(ops, r->offset))
            return fail(err, LATHE_EMISSING, "its mandatory function \"%s\" is NULL",
                        r->name);
    return LATHE_OK;
}

static lathe_status check_entry(const struct manifest *manifest,
                                const lathe_plugin *entry, struct error *err) {
    if (!entry) {
        fail(err, LATHE_EMISSING, "it does not export \"lathe_plugin_v1\"");
        error_help(err, "end the plugin's C file with LATHE_%s(…), and export it",
                   "DATASET/MODEL/OPTIMIZER/SCHEDULE/CALLBACK");
        return LATHE_EMISSING;
    }
    if (entry->size < LATHE_PLUGIN_SIZE_1_0)
        return fail(err, LATHE_EMISSING,
                    "its entry has %u bytes, less than the %u of ABI 1.0", entry->size,
                    LATHE_PLUGIN_SIZE_1_0);
    if (entry->kind != manifest->kind)
        return fail(err, LATHE_EMISSING, "its manifest says %s, its library says %s",
                    manifest_kind_name(manifest->kind),
                    manifest_kind_name(entry->kind));
    if (entry->needs > HOST_MINOR) {
        fail(err, LATHE_EMISSING, "it needs ABI 1.%u, and this host has 1.%u",
             entry->needs, HOST_MINOR);
        error_help(err, "take a newer lathe, or an older version of the plugin");
        return LATHE_EMISSING;
    }
    return check_ops(entry, err);
}

/* What somebody else's process made of it, unless that is known. */
static lathe_status try_first(struct loading *loading, const struct store_item *item,
                              const char *path, struct error *err) {
    const enum store_verdict known = store_recall(item->digest, err);
    if (known == STORE_REFUSED) return LATHE_EMISSING;
    if (known == STORE_LOADS || !loading->try) return LATHE_OK;
    lathe_error said = {.size = sizeof said};
    const lathe_status status = loading->try(loading->context, path, &said);
    if (status > 0) return LATHE_OK; /* it could not be tried */
    if (status < 0) {
        fail(err, LATHE_EMISSING, "%s", said.what);
        error_help(err, "%s", status == LATHE_EPLUGIN ? STORE_HELP : said.help);
    }
    if (status == LATHE_OK || status == LATHE_EPLUGIN)
        store_remember(item->digest, status ? err : NULL);
    return status ? LATHE_EMISSING : LATHE_OK;
}

static lathe_status load(const char *path, struct loading *loading,
                         struct library *library, struct error *err) {
    struct guard guard;
    guard_begin(&guard);
    lathe_status status = dylib_open(path, &library->dylib, err);
    guard_end(&guard, loading->log, library->manifest->library_path);
    return status;
}

static lathe_status check_unchanged(const struct library *library, struct error *err) {
    char digest[DIGEST_HEX];
    lathe_status status =
        digest_file(library->manifest->library_path, NULL, digest, err);
    if (status != LATHE_OK || strcmp(digest, library->digest) == 0) return status;
    return fail(err, LATHE_EMISSING, "it was changed while it was being loaded");
}

/* Where the original is what runs, it must be what was hashed and tried. */
static lathe_status load_original(struct loading *loading, struct library *library,
                                  const struct error *reason, struct error *err) {
    lathe_status status = check_unchanged(library, err);
    if (status == LATHE_OK)
        status = load(library->manifest->library_path, loading, library, err);
    if (status == LATHE_OK) status = check_unchanged(library, err);
    if (status != LATHE_OK) return status;
    if (!loading->did_note)
        log_line(loading->log, LATHE_LOG_INFO,
                 "plugins run from where they are, not from copies: %s", reason->what);
    loading->did_note = true;
    return LATHE_OK;
}

static lathe_status take_and_load(struct loading *loading, struct library *library,
                                  struct error *err) {
    const char *path = library->manifest->library_path;
    struct store_item item = {0};
    int fd = -1;
    int64_t size = 0;
    lathe_status status = dylib_file(path, &fd, &size, err);
    if (status != LATHE_OK) return status;
    status = store_take(fd, path_name(path), &item, err);
    close(fd);
    memcpy(library->digest, item.digest, sizeof library->digest);
    if (status == LATHE_OK)
        status = try_first(loading, &item, item.path ? item.path : path, err);
    if (status == LATHE_OK && item.path &&
        load(item.path, loading, library, &item.reason) != LATHE_OK)
        store_finish(&item);
    if (status == LATHE_OK && !item.path)
        status = load_original(loading, library, &item.reason, err);
    store_finish(&item);
    return status;
}

lathe_status library_open(const struct manifest *manifest, struct loading *loading,
                          struct library *library, struct error *err) {
    *library = (struct library){.manifest = manifest, .entry = manifest->linked};
    lathe_status status = LATHE_OK;
    if (!manifest->linked) status = take_and_load(loading, library, err);
    if (status == LATHE_OK && library->dylib)
        library->entry = dylib_symbol(library->dylib, "lathe_plugin_v1");
    if (status == LATHE_OK) status = check_entry(manifest, library->entry, err);
    if (status != LATHE_OK) {
        error_where(err, "plugin %s %s (%s)", manifest_kind_name(manifest->kind),
                    manifest->name,
                    manifest->linked ? "linked" : manifest->library_path);
        library_close(library);
    }
    return status;
}

void library_close(struct library *library) {
    dylib_close(library->dylib);
    library->dylib = NULL;
    library->entry = NULL;
}

/* Each of these takes one int by value; OpenMP's and MKL's settings are per thread. */
static const char *const blas_setters[] = {
    "openblas_set_num_threads", "MKL_Set_Num_Threads", "omp_set_num_threads"};

void library_quiet_blas(const struct library *library) {
    if (!library->dylib) return;
    for (size_t i = 0; i < sizeof blas_setters / sizeof *blas_setters; i++) {
        void (*setter)(void) = dylib_function(library->dylib, blas_setters[i]);
        if (setter) ((void (*)(int))setter)(1);
    }
    void (*blis)(void) = dylib_function(library->dylib, "bli_thread_set_num_threads");
    if (blis) ((void (*)(int64_t))blis)(1);
}

void library_blas_name(const struct library *library, char *name, size_t size) {
    name[0] = 0;
    if (!library->dylib) return;
    void (*corename)(void) = dylib_function(library->dylib, "openblas_get_corename");
    if (corename) snprintf(name, size, "OpenBLAS %s", ((char *(*)(void))corename)());
}
