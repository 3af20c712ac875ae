/* SPDX-License-Identifier: MIT */
/* A dataset whose samples tell which they are, so that the order of data can be read
 * and an update done by hand. Fields: id (int64), input (float32), weight (float32). */
#include <stdlib.h>
#include <string.h>

#include <lathe/dataset.h>

struct ids {
    const lathe_host *host;
    int64_t count, fail_at, width;
    int64_t input_count, weight_count;
    float noise;
    int32_t unused;
    float *inputs, *weights;
};

static float *read_list(const lathe_host *host, const char *name, int64_t *count) {
    *count = lathe_count(host, name);
    float *list = calloc((size_t)*count, sizeof *list);
    for (int64_t i = 0; list && i < *count; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%lld", name, (long long)i);
        list[i] = (float)lathe_number(host, path);
    }
    return list;
}

static void destroy(void *self) {
    struct ids *d = self;
    free(d->inputs);
    free(d->weights);
    free(d);
}

static lathe_status create(const lathe_host *host, void **self) {
    struct ids *d = calloc(1, sizeof *d);
    if (!d) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    d->host = host;
    d->count = lathe_integer(host, "count");
    d->width = lathe_integer(host, "width");
    d->fail_at = lathe_has(host, "fail_at") ? lathe_integer(host, "fail_at") : -1;
    d->noise = (float)lathe_number(host, "noise");
    d->inputs = read_list(host, "inputs", &d->input_count);
    d->weights = read_list(host, "weights", &d->weight_count);
    if (!d->inputs || !d->weights) {
        destroy(d);
        return lathe_fail(host, LATHE_ENOMEM, "no memory");
    }
    if (!strcmp(lathe_string(host, "asks"), "block")) host->block(host, "early");
    if (!strcmp(lathe_string(host, "asks"), "steps")) lathe_steps(host, "every");
    *self = d;
    return LATHE_OK;
}

static lathe_status describe(void *self, const lathe_data_plan *plan) {
    struct ids *d = self;
    const lathe_field fields[] = {
        {.size = sizeof(lathe_field), .name = "id", .code = LATHE_INT, .bits = 64},
        {.size = sizeof(lathe_field),
         .name = "input",
         .code = LATHE_FLOAT,
         .bits = 32,
         .rank = d->width > 1,
         .shape = {d->width}},
        {.size = sizeof(lathe_field),
         .name = "weight",
         .code = LATHE_FLOAT,
         .bits = 32}};
    for (int i = 0; i < 3; i++) {
        lathe_status status = plan->field(plan, &fields[i]);
        if (status != LATHE_OK) return status;
    }
    plan->samples(plan, d->count);
    return LATHE_OK;
}

static float noise_at(const struct ids *d, const lathe_batch *batch, int64_t row) {
    lathe_key key;
    uint32_t draws[4];
    d->host->key(d->host, 1, batch->epoch, &key);
    lathe_random4(key, (uint64_t)(batch->position + row), 0, draws);
    return d->noise * lathe_unit(draws[0]);
}

static lathe_status read(void *self, const int64_t *indices, const lathe_batch *into) {
    const struct ids *d = self;
    int64_t *id = into->fields[0].data;
    float *input = into->fields[1].data, *weight = into->fields[2].data;
    for (int64_t row = 0; row < into->rows; row++) {
        int64_t i = indices[row];
        if (i == d->fail_at)
            return lathe_fail(d->host, LATHE_EIO, "sample %lld cannot be read",
                              (long long)i);
        id[row] = i;
        weight[row] = d->weights[i % d->weight_count];
        for (int64_t j = 0; j < d->width; j++)
            input[row * d->width + j] = d->inputs[i % d->input_count];
        if (d->noise > 0) input[row * d->width] += noise_at(d, into, row);
    }
    return LATHE_OK;
}

LATHE_DATASET(.create = create, .destroy = destroy, .describe = describe, .read = read);
