/* SPDX-License-Identifier: MIT */
/* What the weights of a checkpoint are, in one number, whatever else is saved. */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "checkpoints_parts.h"

#define PIECE_BYTES ((int64_t)1 << 20)

static int compare_names(const void *a, const void *b) {
    const struct safetensor *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static bool is_weight(const struct safetensor *tensor) {
    return strncmp(tensor->name, "lathe/", 6) != 0;
}

static void add_line(struct digest *sum, const struct safetensor *tensor) {
    char shape[32];
    digest_add(sum, tensor->name, strlen(tensor->name));
    digest_add(sum, " ", 1);
    digest_add(sum, tensor->dtype, strlen(tensor->dtype));
    digest_add(sum, " [", 2);
    for (int32_t i = 0; i < tensor->rank; i++) {
        int length = snprintf(shape, sizeof shape, i ? ",%lld" : "%lld",
                              (long long)tensor->shape[i]);
        digest_add(sum, shape, (size_t)length);
    }
    digest_add(sum, "]\n", 2);
}

void checkpoints_digest(struct safetensor *tensors, size_t count,
                        char hex[DIGEST_HEX]) {
    struct digest sum;
    digest_begin(&sum);
    if (count) qsort(tensors, count, sizeof *tensors, compare_names);
    for (size_t i = 0; i < count; i++) {
        if (!is_weight(&tensors[i])) continue;
        add_line(&sum, &tensors[i]);
        digest_add(&sum, tensors[i].data, (size_t)tensors[i].bytes);
    }
    digest_end(&sum, hex);
}

static lathe_status add_bytes(struct digest *sum, const struct safetensors *file,
                              const struct safetensor *tensor, void *piece,
                              struct error *err) {
    lathe_status status = LATHE_OK;
    for (int64_t done = 0; done < tensor->bytes && !status;) {
        struct safetensor part = *tensor;
        part.offset += done;
        part.bytes = tensor->bytes - done;
        if (part.bytes > PIECE_BYTES) part.bytes = PIECE_BYTES;
        status = safetensors_read(file, &part, piece, err);
        if (!status) digest_add(sum, piece, (size_t)part.bytes);
        done += part.bytes;
    }
    return status;
}

static lathe_status digest_all(const struct safetensors *file, char hex[DIGEST_HEX],
                               struct error *err) {
    const size_t count = safetensors_count(file);
    struct safetensor *tensors = calloc(count + 1, sizeof *tensors);
    lathe_status status = LATHE_OK;
    void *piece = malloc((size_t)PIECE_BYTES);
    struct digest sum;
    if (!tensors || !piece)
        status = fail(err, LATHE_ENOMEM, "no memory for %zu tensors", count);
    for (size_t i = 0; i < count && !status; i++) tensors[i] = *safetensors_at(file, i);
    if (count && !status) qsort(tensors, count, sizeof *tensors, compare_names);
    digest_begin(&sum);
    for (size_t i = 0; i < count && !status; i++) {
        if (!is_weight(&tensors[i])) continue;
        add_line(&sum, &tensors[i]);
        status = add_bytes(&sum, file, &tensors[i], piece, err);
    }
    free(piece);
    free(tensors);
    if (!status) digest_end(&sum, hex);
    return status;
}

static char *make_path(const char *run, int64_t step) {
    char name[CHECKPOINT_NAME];
    checkpoints_name(step, name);
    return text_make("%s/checkpoints/%s", run, name);
}

lathe_status checkpoints_weights(const char *run, int64_t step, char hex[DIGEST_HEX],
                                 struct error *err) {
    struct safetensors *file = NULL;
    char *path = make_path(run, step);
    if (!path) return fail(err, LATHE_ENOMEM, "no memory to look at a checkpoint");
    lathe_status status = safetensors_open(path, &file, err);
    if (!status) {
        const char *note = safetensors_note(file, CHECKPOINT_WEIGHTS);
        if (note && strlen(note) == DIGEST_HEX - 1)
            memcpy(hex, note, DIGEST_HEX);
        else
            status = digest_all(file, hex, err);
    }
    if (status && err && !err->where[0]) error_where(err, "%s", path);
    safetensors_close(file);
    free(path);
    return status;
}

lathe_status checkpoints_steps(const char *run, int64_t **steps, size_t *count,
                               struct error *err) {
    struct checkpoints_list list = {0};
    char *folder = path_join(run, "checkpoints");
    lathe_status status = folder ? checkpoints_list(folder, &list, err)
                                 : fail(err, LATHE_ENOMEM, "no memory for a path");
    *steps = list.steps;
    *count = list.count;
    free(folder);
    return status;
}
