/* SPDX-License-Identifier: MIT */
/* A dataset that is another one, for probes that add one thing to it. */
#ifndef TESTS_PLUGINS_DATASET_WRAPPED_H
#define TESTS_PLUGINS_DATASET_WRAPPED_H

#include <stdlib.h>

#include <lathe/dataset.h>

struct wrapped {
    const lathe_host *host;
    const lathe_dataset_ops *ops; /* the host's, as `inner` is */
    void *inner;
    int64_t samples;
};

static lathe_status wrapped_create(const lathe_host *host, void **self) {
    struct wrapped *w = calloc(1, sizeof *w);
    const void *ops = NULL;
    if (!w) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    w->host = host;
    lathe_status status = host->plugin(host, "of", &ops, &w->inner);
    w->ops = ops;
    if (status != LATHE_OK)
        free(w);
    else
        *self = w;
    return status;
}

struct hearing {
    struct wrapped *wrapped;
    const lathe_data_plan *plan;
};

static lathe_status hear_field(const lathe_data_plan *plan, const lathe_field *field) {
    const struct hearing *hearing = plan->context;
    return hearing->plan->field(hearing->plan, field);
}

static void hear_samples(const lathe_data_plan *plan, int64_t count) {
    const struct hearing *hearing = plan->context;
    hearing->wrapped->samples = count;
    hearing->plan->samples(hearing->plan, count);
}

static lathe_status wrapped_describe(void *self, const lathe_data_plan *plan) {
    struct wrapped *w = self;
    struct hearing hearing = {w, plan};
    const lathe_data_plan between = {.size = sizeof between,
                                     .context = &hearing,
                                     .field = hear_field,
                                     .samples = hear_samples};
    return w->ops->describe(w->inner, &between);
}

static inline lathe_status wrapped_read(void *self, const int64_t *indices,
                                        const lathe_batch *into) {
    const struct wrapped *w = self;
    return w->ops->read(w->inner, indices, into);
}

#endif
