/* SPDX-License-Identifier: MIT */
/* NumPy's .npy files as samples: one file of inputs, one of labels. Numbers stay as
 * they are in the file and become floats as samples are gathered. */
#include <stdlib.h>

#include "npy_samples.h"

static lathe_status open_array(const lathe_host *host, const char *option,
                               struct npy_array *array) {
    const void *bytes;
    int64_t count;
    lathe_status status = host->map(host, option, &bytes, &count);
    if (status != LATHE_OK) return status;
    return npy_array_open(host, lathe_string(host, option), bytes, count, array);
}

static void destroy(void *self) {
    npy_samples_finish(self);
    free(self);
}

static lathe_status create(const lathe_host *host, void **self) {
    struct npy_samples *samples = calloc(1, sizeof *samples);
    if (!samples) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    lathe_status status = open_array(host, "input", &samples->input);
    if (status == LATHE_OK && lathe_has(host, "label"))
        status = open_array(host, "label", &samples->label);
    if (status == LATHE_OK) status = npy_samples_init(host, samples);
    if (status == LATHE_OK)
        *self = samples;
    else
        destroy(samples);
    return status;
}

static lathe_status describe(void *self, const lathe_data_plan *plan) {
    return npy_samples_describe(self, plan);
}

static lathe_status read_samples(void *self, const int64_t *indices,
                                 const lathe_batch *into) {
    npy_samples_read(self, indices, into);
    return LATHE_OK;
}

LATHE_DATASET(.create = create, .destroy = destroy, .describe = describe,
              .read = read_samples);
