/* SPDX-License-Identifier: MIT */
#include "bundle/content.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "bundle/content_parts.h"
#include "bundle/tree.h"

#define STAGING_PREFIX "lathe-verify-"
#define LENGTH_BYTES 8
#define WEIGHTS_HEADER_MAX ((uint64_t)16 << 20) /* longer ones are refused */

struct content {
    const struct bundle *bundle;
    struct staging staging;
    struct tree tree;
    char *folder;                   /* without links in its path */
    const struct bundle_file *file; /* in hand */
    int64_t taken, wanted;          /* of its bytes: so far; that are kept */
    uint64_t header;                /* of weights: what their first bytes say */
};

/* ---- taking it in ---- */

static bool is_plugins(const char *path) {
    return !strncmp(path, "plugins/", strlen("plugins/"));
}

static bool is_whole(const char *path) {
    return is_plugins(path) || !strcmp(path, BUNDLE_EXPERIMENT) ||
           !strcmp(path, BUNDLE_RECEIPT);
}

static bool is_weights(const struct bundle *bundle, const struct bundle_file *file) {
    return json_holds(file->used_by, "start.weights") ||
           (bundle->checkpoint && !strcmp(bundle->checkpoint, file->path));
}

/* Data was compared with its digest, and nobody looks into it: an empty file stands for
 * it. Of weights the header is kept, and the rest is a hole. */
static lathe_status begin(void *context, const struct bundle_file *file,
                          struct error *err) {
    struct content *content = context;
    content->file = file;
    content->taken = 0;
    content->header = 0;
    content->wanted = is_whole(file->path)                ? file->size
                      : is_weights(content->bundle, file) ? LENGTH_BYTES
                                                          : 0;
    return tree_sink(&content->tree).begin(&content->tree, file, err);
}

/* The length of the header comes first, its low byte ahead. */
static void read_length(struct content *content, const unsigned char *bytes,
                        size_t count) {
    const int64_t known = content->taken;
    for (int64_t i = 0; i < (int64_t)count && known + i < LENGTH_BYTES; i++)
        content->header |= (uint64_t)bytes[i] << 8 * (known + i);
    if (known + (int64_t)count >= LENGTH_BYTES && content->header <= WEIGHTS_HEADER_MAX)
        content->wanted = LENGTH_BYTES + (int64_t)content->header;
}

static lathe_status add(void *context, const void *bytes, size_t count,
                        struct error *err) {
    struct content *content = context;
    if (content->wanted == LENGTH_BYTES && !is_whole(content->file->path))
        read_length(content, bytes, count);
    const int64_t left = content->wanted - content->taken;
    const size_t kept = left <= 0 ? 0 : left < (int64_t)count ? (size_t)left : count;
    content->taken += (int64_t)count;
    if (kept) return tree_sink(&content->tree).add(&content->tree, bytes, kept, err);
    return staging_check_signals(&content->staging, err);
}

static lathe_status end(void *context, struct error *err) {
    struct content *content = context;
    const bool has_hole = content->wanted && content->wanted < content->file->size;
    lathe_status status = LATHE_OK;
    if (has_hole && ftruncate(content->tree.fd, content->file->size))
        status = fail(err, error_from_create(errno), "cannot write in \"%.400s\": %s",
                      content->tree.path, strerror(errno));
    tree_end(&content->tree);
    return status;
}

struct intake_sink content_sink(struct content *content) {
    return (struct intake_sink){content, begin, add, end};
}

static int64_t count_bytes(const struct bundle *bundle) {
    int64_t bytes = 0;
    for (size_t i = 0; i < bundle->file_count; i++) {
        const struct bundle_file *file = &bundle->files[i];
        const int64_t most = LENGTH_BYTES + (int64_t)WEIGHTS_HEADER_MAX;
        if (is_whole(file->path) || (is_weights(bundle, file) && file->size < most))
            bytes += file->size;
        else if (is_weights(bundle, file))
            bytes += most;
    }
    return bytes;
}

static lathe_status prepare(struct content *content, struct error *err) {
    const char *place = file_temporary();
    staging_sweep(place, STAGING_PREFIX);
    lathe_status status = staging_open(place, STAGING_PREFIX, &content->staging, err);
    if (!status)
        status = staging_check_room(&content->staging, place,
                                    count_bytes(content->bundle), err);
    if (status) {
        error_help(err, "TMPDIR says where temporary files go");
        return status;
    }
    content->tree = (struct tree){&content->staging, place, 0600, -1, 0};
    content->folder = realpath(content->staging.path, NULL);
    if (content->folder && !mkdirat(content->staging.folder, "plugins", 0700))
        return LATHE_OK;
    return fail(err, error_from_create(errno), "cannot write in \"%.400s\": %s", place,
                strerror(errno));
}

lathe_status content_open(const struct bundle *bundle, struct content **content,
                          struct error *err) {
    struct content *made = calloc(1, sizeof *made);
    *content = NULL;
    if (!made) return fail(err, LATHE_ENOMEM, "out of memory");
    *made =
        (struct content){.bundle = bundle, .staging = STAGING_NONE, .tree = {.fd = -1}};
    lathe_status status = prepare(made, err);
    if (status)
        content_close(made);
    else
        *content = made;
    return status;
}

void content_close(struct content *content) {
    if (!content) return;
    tree_end(&content->tree);
    staging_close(&content->staging);
    free(content->folder);
    free(content);
}

/* ---- checking ---- */

/* Replaces every `from` in the text. */
static void replace(char *text, size_t size, const char *from, const char *to) {
    for (char *at; (at = strstr(text, from));) {
        char *rest = text_copy(at + strlen(from));
        if (!rest) return;
        snprintf(at, size - (size_t)(at - text), "%s%s", to, rest);
        free(rest);
    }
}

/* A fault as the reader of the bundle is to see it. The folder is removed before
 * anybody reads of it: paths in it are told as paths in the bundle. */
static void add_fault(const char *folder, struct error *fault, struct errors *faults) {
    char *inside = text_make("%s/", folder);
    const char *const names[][2] = {{inside ? inside : folder, ""},
                                    {folder, "the bundle"}};
    for (size_t i = 0; i < 2; i++) {
        replace(fault->what, sizeof fault->what, names[i][0], names[i][1]);
        replace(fault->where, sizeof fault->where, names[i][0], names[i][1]);
        replace(fault->help, sizeof fault->help, names[i][0], names[i][1]);
    }
    free(inside);
    if (fault->status == LATHE_EINVAL || fault->status == LATHE_ENOTFOUND)
        fault->status = LATHE_EDATA; /* of the bundle, not of a user */
    if (!fault->help[0]) error_help(fault, "make the bundle again: lathe pack");
    *errors_add(faults) = *fault;
}

/* Data that the bundle does not hold: the settings that name it must be sound all the
 * same, so an empty file stands for it too. */
static lathe_status place_outside(struct content *content, struct error *err) {
    lathe_status status = LATHE_OK;
    for (size_t i = 0; i < content->bundle->outside_count && !status; i++) {
        status = begin(content, &content->bundle->outside[i], err);
        tree_end(&content->tree);
    }
    return status;
}

void content_check(struct content *content, struct errors *faults) {
    char *plugins = path_join(content->folder, "plugins");
    const char *const paths[] = {plugins, NULL};
    struct registry *registry = NULL;
    struct error err = {0};
    struct errors own = {0};
    lathe_status status = plugins ? place_outside(content, &err)
                                  : fail(&err, LATHE_ENOMEM, "out of memory");
    if (!status) status = registry_open(paths, NULL, &registry, &err);
    if (status) {
        *errors_add(&own) = err;
    } else {
        content_check_plugins(content->bundle, content->folder, registry, &own);
        content_check_experiment(content->bundle, content->folder, registry, &own);
        content_check_receipt(content->bundle, content->folder, &own);
    }
    for (size_t i = 0; i < own.count; i++)
        add_fault(content->folder, &own.items[i], faults);
    errors_finish(&own);
    registry_close(registry);
    free(plugins);
}
