/* SPDX-License-Identifier: MIT */
/* Another dataset, in an order of its own: the last sample first. */
#include "../wrapped.h"

static lathe_status order(void *self, int64_t epoch, int64_t first, int64_t count,
                          int64_t *indices) {
    const struct wrapped *w = self;
    (void)epoch;
    for (int64_t i = 0; i < count; i++) indices[i] = w->samples - 1 - first - i;
    return LATHE_OK;
}

LATHE_DATASET(.create = wrapped_create, .destroy = free, .describe = wrapped_describe,
              .read = wrapped_read, .order = order);
