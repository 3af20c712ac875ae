/* SPDX-License-Identifier: MIT */
/* A sound dataset, and with -DFAULT_… one that is wrong in one way. */
#include <lathe/dataset.h>

#include <math.h>
#include <stdlib.h>

#define WIDTH 5

struct waves {
    const lathe_host *host;
    int64_t count, reads;
    float scratch[WIDTH];
};

static lathe_status create(const lathe_host *host, void **self) {
    struct waves *d = calloc(1, sizeof *d);
    if (!d) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    d->host = host;
    d->count = lathe_integer(host, "count");
    *self = d;
    return LATHE_OK;
}

static lathe_status describe(void *self, const lathe_data_plan *plan) {
    const struct waves *d = self;
    const lathe_field input = {.size = sizeof input,
                               .name = "input",
                               .rank = 1,
                               .code = LATHE_FLOAT,
                               .bits = 32,
                               .shape = {WIDTH}};
    const lathe_field label = {.size = sizeof label,
                               .name = "label",
                               .code = LATHE_INT,
                               .bits = 32,
                               .classes = 3};
    lathe_status status = plan->field(plan, &input);
    if (status == LATHE_OK) status = plan->field(plan, &label);
    plan->samples(plan, d->count);
    return status;
}

static lathe_status read(void *self, const int64_t *indices, const lathe_batch *into) {
    struct waves *d = self;
    (void)d;
    float *input = into->fields[0].data;
    int32_t *label = into->fields[1].data;
    for (int64_t row = 0; row < into->rows; row++) {
        int64_t index = indices[row];
#ifdef FAULT_ORDER
        index += d->reads++ % 2;
#endif
#ifdef FAULT_GROUPING
        index += into->rows > 3;
#endif
#ifdef FAULT_EDGE
        if (index == d->count - 1 && into->rows == 1) continue;
#endif
#ifdef FAULT_UNWRITTEN
        if (index == d->count - 1) continue;
#endif
        float local[WIDTH];
#ifdef FAULT_THREADS
        float *made = d->scratch;
        (void)local;
#else
        float *made = local;
#endif
        for (int64_t i = 0; i < WIDTH; i++) made[i] = sinf((float)(index * WIDTH + i));
        memcpy(input + row * WIDTH, made, sizeof local);
        label[row] = (int32_t)(index % 3);
#ifdef FAULT_CLASSES
        label[row] = (int32_t)(index % 4);
#endif
#ifdef FAULT_NAN
        if (index == 7) input[row * WIDTH] = NAN;
#endif
    }
#ifdef FAULT_BEHIND
    label[into->rows] = 0;
#endif
    return LATHE_OK;
}

LATHE_DATASET(.create = create, .destroy = free, .describe = describe, .read = read);
