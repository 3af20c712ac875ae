/* SPDX-License-Identifier: MIT */
/* Another dataset, with state: how often it was read. */
#include "../wrapped.h"

struct keeper {
    struct wrapped wrapped; /* first */
    int64_t reads;
};

static lathe_status create(const lathe_host *host, void **self) {
    void *wrapped = NULL;
    lathe_status status = wrapped_create(host, &wrapped);
    if (status != LATHE_OK) return status;
    struct keeper *d = realloc(wrapped, sizeof *d);
    if (!d) {
        free(wrapped);
        return lathe_fail(host, LATHE_ENOMEM, "no memory");
    }
    d->reads = 0;
    *self = d;
    return LATHE_OK;
}

static lathe_status save(void *self, const lathe_writer *to) {
    const struct keeper *d = self;
    const int64_t state[] = {d->reads, ~d->reads};
    return to->write(to, state, sizeof state);
}

static lathe_status load(void *self, const lathe_reader *from) {
    struct keeper *d = self;
    int64_t state[2] = {0, 0}, got = 0;
    lathe_status status = from->read(from, state, sizeof state, &got);
    if (status == LATHE_OK && (got != sizeof state || state[0] != ~state[1]))
        status = lathe_fail(d->wrapped.host, LATHE_EDATA, "no count of reads");
    if (status == LATHE_OK) d->reads = state[0];
    return status;
}

static lathe_status count_read(void *self, const int64_t *indices,
                               const lathe_batch *into) {
    struct keeper *d = self;
    __atomic_fetch_add(&d->reads, 1, __ATOMIC_RELAXED);
    return wrapped_read(self, indices, into);
}

LATHE_DATASET(.create = create, .destroy = free, .save = save, .load = load,
              .describe = wrapped_describe, .read = count_read);
