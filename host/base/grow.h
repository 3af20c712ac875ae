/* SPDX-License-Identifier: MIT */
/* An array that grows by one. It needs no capacity beside its count: room doubles
 * whenever the count is a power of two, so give it only arrays that it made. */
#ifndef HOST_BASE_GROW_H
#define HOST_BASE_GROW_H

#include <stdint.h>
#include <stdlib.h>

/* `items`, perhaps moved, with room for one more than `count` of `size` bytes each;
 * NULL: out of memory, and the old ones are as they were. */
static inline void *grow(void *items, size_t count, size_t size) {
    if (count & (count - 1)) return items;
    if (count > SIZE_MAX / 2 / size) return NULL;
    return realloc(items, (count ? 2 * count : 1) * size);
}

#endif
