/* SPDX-License-Identifier: MIT */
#include <lathe/dataset.h>
#include <stdlib.h>

struct kept_dataset {
    int64_t samples;
    lathe_key key;
};

static lathe_status make(const lathe_host *host, void **self) {
    struct kept_dataset *my = malloc(sizeof *my);
    if (!my) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    my->samples = lathe_integer(host, "samples");
    host->key(host, 0, 0, &my->key); /* of the seed and of this data set's id */
    *self = my;
    return LATHE_OK;
}

static lathe_status describe(void *self, const lathe_data_plan *plan) {
    const struct kept_dataset *my = self;
    const lathe_field input = {.size = sizeof input,
                               .name = "input",
                               .code = LATHE_FLOAT,
                               .bits = 32,
                               .rank = 1,
                               .shape = {2}};
    const lathe_field label = {
        .size = sizeof label, .name = "label", .code = LATHE_FLOAT, .bits = 32};
    lathe_status status = plan->field(plan, &input);
    if (status == LATHE_OK) status = plan->field(plan, &label);
    if (status == LATHE_OK) plan->samples(plan, my->samples);
    return status;
}

/* Several threads at once, rows in any order: a sample depends on its index alone. */
static lathe_status read_samples(void *self, const int64_t *indices,
                                 const lathe_batch *into) {
    const struct kept_dataset *my = self;
    float *input = into->fields[0].data; /* [rows, 2] */
    float *label = into->fields[1].data; /* [rows] */
    for (int64_t row = 0; row < into->rows; row++) {
        uint32_t draws[4];
        lathe_random4(my->key, (uint64_t)indices[row], 0, draws);
        input[2 * row] = 2 * lathe_unit(draws[0]) - 1;
        input[2 * row + 1] = 2 * lathe_unit(draws[1]) - 1;
        label[row] = 2 * input[2 * row] - input[2 * row + 1] + 0.5f;
    }
    return LATHE_OK;
}

LATHE_DATASET(.create = make, .destroy = free, .describe = describe,
              .read = read_samples);
