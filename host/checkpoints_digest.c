/* SPDX-License-Identifier: MIT */
/* What the weights of a checkpoint are, in one number, whatever else is saved. */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "checkpoints_parts.h"

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

/* One that was written before there was such a note. */
static lathe_status digest_all(const struct safetensors *file, char hex[DIGEST_HEX],
                               struct error *err) {
    const size_t count = safetensors_count(file);
    struct safetensor *tensors = calloc(count + 1, sizeof *tensors);
    lathe_status status = LATHE_OK;
    struct digest sum;
    if (!tensors) return fail(err, LATHE_ENOMEM, "no memory for %zu tensors", count);
    for (size_t i = 0; i < count; i++) tensors[i] = *safetensors_at(file, i);
    if (count) qsort(tensors, count, sizeof *tensors, compare_names);
    digest_begin(&sum);
    for (size_t i = 0; i < count && !status; i++) {
        if (!is_weight(&tensors[i])) continue;
        void *bytes = malloc((size_t)tensors[i].bytes + 1);
        status = bytes ? safetensors_read(file, &tensors[i], bytes, err)
                       : fail(err, LATHE_ENOMEM, "no memory for a tensor");
        add_line(&sum, &tensors[i]);
        if (!status) digest_add(&sum, bytes, (size_t)tensors[i].bytes);
        free(bytes);
    }
    free(tensors);
    if (!status) digest_end(&sum, hex);
    return status;
}

char *checkpoints_path(const char *run, int64_t step) {
    char name[CHECKPOINT_NAME];
    checkpoints_name(step, name);
    return text_make("%s/checkpoints/%s", run, name);
}

lathe_status checkpoints_weights(const char *run, int64_t step, char hex[DIGEST_HEX],
                                 struct error *err) {
    struct safetensors *file = NULL;
    char *path = checkpoints_path(run, step);
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
