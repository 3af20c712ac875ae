/* SPDX-License-Identifier: MIT */
/* The mandatory function "describe" is NULL. */
#include <lathe/dataset.h>

static lathe_status make(const lathe_host *host, void **self) {
    (void)host;
    (void)self;
    return LATHE_OK;
}

static lathe_status read_rows(void *self, const int64_t *indices,
                              const lathe_batch *into) {
    (void)self;
    (void)indices;
    (void)into;
    return LATHE_OK;
}

LATHE_DATASET(.create = make, .read = read_rows);
