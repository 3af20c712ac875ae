/* SPDX-License-Identifier: MIT */
/* A dataset over files that are bytes of the input. The target includes the plugin's
 * own sources first, whose table is `lathe_ops_`. Its first byte chooses the options,
 * from 'a' on; the rest is one file, or the length of the first of two in two bytes,
 * little-endian, and both. What create takes must be described and readable: finite
 * inputs, labels within their classes. */
#ifndef TESTS_FUZZ_FUZZ_DATA_H
#define TESTS_FUZZ_FUZZ_DATA_H

#include "fuzz.h"

#include <math.h>

#include "support/fake_host.h"

#define FUZZ_FIELDS 4
#define FUZZ_ROWS 4
#define FUZZ_VARIANTS 16

/* A host whose options say "0" and "1" where a file would be. */
struct fuzz_data {
    struct fake_host host; /* first: a host's context is its fake */
    int is_ready;
    void *files[2]; /* copies of their own, so that a sanitizer sees their ends */
    size_t sizes[2];
    lathe_field fields[FUZZ_FIELDS];
    uint32_t field_count;
    int64_t samples;
};

static inline lathe_status fuzz_map(const lathe_host *host, const char *path,
                                    const void **bytes, int64_t *count) {
    struct fuzz_data *data = host->context;
    int index = fake_string(host, path)[0] == '1';
    *bytes = data->files[index];
    *count = (int64_t)data->sizes[index];
    return LATHE_OK;
}

/* One host for each choice of options, made once: plugin.json is not read again. */
static inline struct fuzz_data *fuzz_data_host(const char *plugin, const char *options,
                                               size_t variant) {
    static struct fuzz_data hosts[FUZZ_VARIANTS];
    struct fuzz_data *data = &hosts[variant];
    if (!data->is_ready) {
        fake_host_init(&data->host, options);
        fake_host_manifest(&data->host, plugin);
        data->host.table.map = fuzz_map;
        data->is_ready = 1;
    }
    data->host.failure[0] = '\0';
    data->field_count = 0;
    data->samples = -1;
    return data;
}

static inline void fuzz_data_file(struct fuzz_data *data, int index,
                                  const uint8_t *bytes, size_t count) {
    void *copy = NULL;
    FUZZ_CHECK(!posix_memalign(&copy, 64, count ? count : 1));
    if (count) memcpy(copy, bytes, count);
    data->files[index] = copy;
    data->sizes[index] = count;
}

static inline lathe_status fuzz_data_field(const lathe_data_plan *plan,
                                           const lathe_field *field) {
    struct fuzz_data *data = plan->context;
    FUZZ_CHECK(data->field_count < FUZZ_FIELDS);
    FUZZ_CHECK(field->size >= LATHE_FIELD_SIZE_1_0 && field->rank < LATHE_RANK_MAX);
    FUZZ_CHECK(field->bits == 32 && field->classes >= 0);
    for (uint32_t i = 0; i < field->rank; i++) FUZZ_CHECK(field->shape[i] > 0);
    data->fields[data->field_count++] = *field;
    return LATHE_OK;
}

static inline void fuzz_data_samples(const lathe_data_plan *plan, int64_t count) {
    ((struct fuzz_data *)plan->context)->samples = count;
}

static inline int64_t fuzz_numbers_of(const lathe_field *field) {
    int64_t numbers = 1;
    for (uint32_t i = 0; i < field->rank; i++) numbers *= field->shape[i];
    return numbers;
}

static inline void fuzz_check_numbers(const lathe_field *field, const void *numbers,
                                      int64_t count) {
    const float *values = numbers;
    const int32_t *classes = numbers;
    for (int64_t i = 0; i < count; i++)
        if (field->code == LATHE_FLOAT)
            FUZZ_CHECK(isfinite(values[i]));
        else
            FUZZ_CHECK(classes[i] >= 0 && classes[i] < field->classes);
}

/* Reads the first, the middle and the last sample, and the first one again. */
static inline void fuzz_data_read(struct fuzz_data *data, void *self) {
    const int64_t last = data->samples - 1, indices[FUZZ_ROWS] = {0, last / 2, last, 0};
    lathe_tensor tensors[FUZZ_FIELDS] = {0};
    for (uint32_t i = 0; i < data->field_count; i++) {
        const lathe_field *field = &data->fields[i];
        size_t count = (size_t)fuzz_numbers_of(field) * FUZZ_ROWS;
        tensors[i] = (lathe_tensor){.data = malloc(count * 4),
                                    .code = field->code,
                                    .bits = field->bits,
                                    .lanes = 1,
                                    .rank = field->rank + 1};
        FUZZ_CHECK(tensors[i].data);
        tensors[i].shape[0] = FUZZ_ROWS;
        for (uint32_t j = 0; j < field->rank; j++)
            tensors[i].shape[j + 1] = field->shape[j];
    }
    const lathe_batch batch = {.size = sizeof batch,
                               .field_count = data->field_count,
                               .rows = FUZZ_ROWS,
                               .epoch = 1,
                               .fields = tensors};
    FUZZ_CHECK(lathe_ops_.read(self, indices, &batch) == LATHE_OK);
    for (uint32_t i = 0; i < data->field_count; i++) {
        int64_t count = fuzz_numbers_of(&data->fields[i]);
        fuzz_check_numbers(&data->fields[i], tensors[i].data, count * FUZZ_ROWS);
        FUZZ_CHECK(!memcmp(tensors[i].data, (char *)tensors[i].data + 3 * count * 4,
                           (size_t)count * 4));
        free(tensors[i].data);
    }
}

static inline void fuzz_data_try(struct fuzz_data *data) {
    void *self = NULL;
    lathe_status status = lathe_ops_.create(&data->host.table, &self);
    FUZZ_CHECK((status == LATHE_OK) == (self != NULL));
    if (status) {
        FUZZ_CHECK(status == LATHE_EDATA || status == LATHE_EINVAL);
        FUZZ_CHECK(data->host.failure[0] && data->host.status == status);
        return;
    }
    const lathe_data_plan plan = {.size = sizeof plan,
                                  .context = data,
                                  .field = fuzz_data_field,
                                  .samples = fuzz_data_samples};
    FUZZ_CHECK(lathe_ops_.describe(self, &plan) == LATHE_OK);
    FUZZ_CHECK(data->samples > 0 && data->field_count > 0);
    fuzz_data_read(data, self);
    lathe_ops_.destroy(self);
}

/* file_count: 1 or 2. `prepare` (or NULL) may change the first file. */
static inline void fuzz_data(const char *plugin, const char *const *options,
                             size_t variants, int file_count, const uint8_t *bytes,
                             size_t count, void (*prepare)(void *file, size_t size)) {
    size_t head = file_count == 1 ? 1 : 3, first;
    if (count < head) return;
    size_t variant = (uint8_t)(bytes[0] - 'a') % variants;
    struct fuzz_data *data = fuzz_data_host(plugin, options[variant], variant);
    count -= head;
    first = head == 1 ? count : (size_t)bytes[1] | (size_t)bytes[2] << 8;
    if (first > count) first = count;
    fuzz_data_file(data, 0, bytes + head, first);
    fuzz_data_file(data, 1, bytes + head + first, count - first);
    if (prepare) prepare(data->files[0], data->sizes[0]);
    fuzz_data_try(data);
    free(data->files[0]);
    free(data->files[1]);
}

#define FUZZ_DATA(plugin, options, file_count, bytes, count, prepare)                  \
    fuzz_data(plugin, options, sizeof(options) / sizeof *(options), file_count, bytes, \
              count, prepare)

#endif
