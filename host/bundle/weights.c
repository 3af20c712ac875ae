/* SPDX-License-Identifier: MIT */
#include "bundle/weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "checkpoints.h"

#define LENGTH_BYTES 8                  /* before the header: how long it is */
#define HEADER_MAX ((uint64_t)16 << 20) /* as of safetensors */

struct weights {
    const struct bundle *bundle;
    const struct intake_sink *next;
    struct errors *faults;
    const struct bundle_file *file; /* in hand; NULL: nobody begins from it */
    struct text header;             /* so far, with its length; then empty */
    size_t wanted;                  /* bytes of that */
    struct safetensors *opened;     /* with no more than its header */
    struct safetensors_sum sum;
    bool is_summed;
    /* Of a checkpoint: */
    struct json *plugins; /* lathe.plugins */
    struct digest state;  /* of the tensor that passes */
    struct error fault;   /* the first in one */
    size_t tensor;        /* its index */
    int64_t at;           /* in the data */
};

/* ---- which files ---- */

static bool is_checkpoint(const struct weights *weights) {
    const char *path = weights->bundle->checkpoint;
    return path && !strcmp(path, weights->file->path);
}

static bool is_start(const struct bundle_file *file) {
    for (size_t i = 0; i < json_size(file->used_by); i++)
        if (!strcmp(json_text(json_at(file->used_by, i)), "start.weights")) return true;
    return false;
}

static void add_fault(const struct weights *weights, struct error *err) {
    const char *path = weights->file->path;
    if (is_checkpoint(weights))
        error_where(err, "%s", path);
    else
        error_where(err, "%s: start.weights: %s", BUNDLE_EXPERIMENT, path);
    if (!err->help[0]) error_help(err, "make the bundle again: lathe pack");
    *errors_add(weights->faults) = *err;
}

/* ---- the header ---- */

/* Of a file in memory that is as long as the real one, and holds no more than the
 * header. What is none is for content to tell. */
static lathe_status open_header(struct weights *weights, struct error *err) {
    char path[32];
    const int fd = memfd_create("header", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0)
        return fail(err, error_from_errno(errno), "no memory for a header: %s",
                    strerror(errno));
    lathe_status status =
        file_write(fd, weights->header.data, weights->header.length, path, err);
    if (!status && ftruncate(fd, weights->file->size))
        status = fail(err, LATHE_ENOMEM, "no memory for a header: %s", strerror(errno));
    if (!status && safetensors_open(path, &weights->opened, NULL)) weights->file = NULL;
    close(fd);
    return status;
}

/* What a run that begins from the checkpoint asks for, but for the experiment, which
 * content compares. */
static lathe_status read_notes(struct weights *weights, struct error *err) {
    const struct safetensors *file = weights->opened;
    struct json *loop = NULL;
    lathe_status status = checkpoints_check_format(file, err);
    if (!status) status = checkpoints_note(file, NOTE_PLUGINS, &weights->plugins, err);
    if (!status) status = checkpoints_note(file, NOTE_LOOP, &loop, err);
    json_close(loop);
    return status;
}

/* Other weights than a checkpoint may be without a digest. */
static void begin_sum(struct weights *weights) {
    struct error err = {0};
    lathe_status status = is_checkpoint(weights) ? read_notes(weights, &err) : LATHE_OK;
    if (!status && !is_checkpoint(weights) &&
        !safetensors_note(weights->opened, SAFETENSORS_DIGEST))
        return;
    if (!status) status = safetensors_sum_begin(&weights->sum, weights->opened, &err);
    if (status) add_fault(weights, &err);
    weights->is_summed = !status;
}

static lathe_status end_header(struct weights *weights, struct error *err) {
    lathe_status status = open_header(weights, err);
    if (!status && weights->file) begin_sum(weights);
    if (!status && weights->is_summed)
        safetensors_sum_add(&weights->sum, weights->header.data,
                            weights->header.length);
    text_finish(&weights->header);
    return status;
}

/* The low byte comes first. What is no header is for content to tell. */
static void read_length(struct weights *weights) {
    uint64_t length = 0;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        length = length << 8 | (unsigned char)weights->header.data[i];
    if (!length || length > HEADER_MAX)
        weights->file = NULL;
    else
        weights->wanted += (size_t)length;
}

/* ---- the state of plugins ---- */

/* What the checkpoint says of the state called "kind/id"; NULL: nothing. */
static const struct json *find_saved(const struct weights *weights, const char *name) {
    const struct json *found = NULL;
    for (size_t i = 0; i < json_size(weights->plugins) && !found; i++) {
        const struct json *saved = json_at(weights->plugins, i);
        const char *kind = json_text(json_get(saved, "kind"));
        const char *id = json_text(json_get(saved, "id"));
        const size_t length = strlen(kind);
        if (json_get(saved, "sha256") && !strncmp(name, kind, length) &&
            name[length] == '/' && !strcmp(name + length + 1, id))
            found = saved;
    }
    return found;
}

static bool is_state(const struct safetensor *tensor) {
    return !strncmp(tensor->name, STATE_PREFIX, strlen(STATE_PREFIX));
}

static void check_state(struct weights *weights, const struct safetensor *tensor) {
    const char *name = tensor->name + strlen(STATE_PREFIX);
    const struct json *saved = find_saved(weights, name);
    char hex[DIGEST_HEX];
    digest_end(&weights->state, hex);
    if (!saved || !strcmp(hex, json_text(json_get(saved, "sha256")))) return;
    if (weights->fault.status) return;
    fail(&weights->fault, LATHE_EDATA,
         "the state of %s has %lld bytes, which are not the %lld that it saved", name,
         (long long)tensor->bytes, (long long)json_whole(json_get(saved, "bytes")));
}

/* Tensors come in the order of their bytes. */
static void add_states(struct weights *weights, const char *bytes, size_t count) {
    const int64_t begin = weights->at, end = begin + (int64_t)count;
    const struct safetensor *tensor;
    weights->at = end;
    while ((tensor = safetensors_at(weights->opened, weights->tensor))) {
        const int64_t stop = tensor->offset + tensor->bytes;
        const int64_t first = tensor->offset < begin ? begin : tensor->offset;
        const int64_t last = stop < end ? stop : end;
        if (first == tensor->offset) digest_begin(&weights->state);
        if (first < last && is_state(tensor))
            digest_add(&weights->state, bytes + (first - begin),
                       (size_t)(last - first));
        if (stop > end) return;
        if (is_state(tensor)) check_state(weights, tensor);
        weights->tensor++;
    }
}

/* ---- the sink ---- */

static void forget(struct weights *weights) {
    safetensors_close(weights->opened);
    json_close(weights->plugins);
    text_finish(&weights->header);
    weights->opened = NULL;
    weights->plugins = NULL;
    weights->file = NULL;
    weights->fault = (struct error){0};
    weights->tensor = 0;
    weights->at = 0;
    weights->is_summed = false;
}

static lathe_status begin(void *context, const struct bundle_file *file,
                          struct error *err) {
    struct weights *weights = context;
    forget(weights);
    weights->file = file;
    weights->wanted = LENGTH_BYTES;
    if (!is_checkpoint(weights) && !is_start(file)) weights->file = NULL;
    return weights->next->begin(weights->next->context, file, err);
}

static lathe_status add(void *context, const void *bytes, size_t count,
                        struct error *err) {
    struct weights *weights = context;
    struct text *header = &weights->header;
    const char *at = bytes;
    lathe_status status = weights->next->add(weights->next->context, at, count, err);
    while (weights->file && !weights->opened && count && !status) {
        const size_t left = weights->wanted - header->length;
        const size_t part = left < count ? left : count;
        text_add_bytes(header, at, part);
        at += part;
        count -= part;
        if (header->is_broken) return fail(err, LATHE_ENOMEM, "out of memory");
        if (part == left && header->length == LENGTH_BYTES)
            read_length(weights);
        else if (part == left)
            status = end_header(weights, err);
    }
    if (weights->is_summed && !status) safetensors_sum_add(&weights->sum, at, count);
    if (weights->plugins && !status) add_states(weights, at, count);
    return status;
}

static lathe_status end(void *context, struct error *err) {
    struct weights *weights = context;
    struct error fault = {0};
    if (weights->is_summed && !safetensors_sum_end(&weights->sum, &fault))
        fault = weights->fault;
    if (fault.status) add_fault(weights, &fault);
    forget(weights);
    return weights->next->end(weights->next->context, err);
}

struct weights *weights_open(const struct bundle *bundle,
                             const struct intake_sink *next, struct errors *faults) {
    struct weights *weights = calloc(1, sizeof *weights);
    if (weights)
        *weights = (struct weights){.bundle = bundle, .next = next, .faults = faults};
    return weights;
}

struct intake_sink weights_sink(struct weights *weights) {
    return (struct intake_sink){weights, begin, add, end};
}

void weights_close(struct weights *weights) {
    if (!weights) return;
    forget(weights);
    free(weights);
}
