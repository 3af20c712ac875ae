/* SPDX-License-Identifier: MIT */
/* Draft: datasets that are streams. Nothing here is a promise yet (the SDK's README,
 * rule 7). A dataset offers it as extension(self, LATHE_NEXT); `read` may then be
 * NULL. */
#ifndef LATHE_DRAFT_NEXT_H
#define LATHE_DRAFT_NEXT_H

#include "../dataset.h"

#define LATHE_NEXT "lathe.next/draft"

typedef struct lathe_next {
    uint32_t size, reserved;
    /* Writes the next samples, up to into->rows, and puts how many in *rows; LATHE_END
     * when the epoch has none left. Every rank reads all and keeps its rows. Position
     * is state: save and load of the dataset cover it. Fails as read. [loop] */
    lathe_status (*next)(void *self, const lathe_batch *into, int64_t *rows);
} lathe_next;

#endif
