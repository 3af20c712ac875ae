/* SPDX-License-Identifier: MIT */
/* Counts allocations of the whole process: the program's own malloc stands before the C
 * library's, for every library that is loaded too. `free` stays the C library's. */
#include "bench.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int64_t allocations;

/* glibc's own, under the names that it keeps for this. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static void count_one(void) {
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

int64_t count_allocations(void) {
    return atomic_load_explicit(&allocations, memory_order_relaxed);
}

LATHE_EXPORT void *malloc(size_t size) {
    count_one();
    return __libc_malloc(size);
}

LATHE_EXPORT void *calloc(size_t count, size_t size) {
    count_one();
    return __libc_calloc(count, size);
}

LATHE_EXPORT void *realloc(void *memory, size_t size) {
    count_one();
    return __libc_realloc(memory, size);
}

LATHE_EXPORT void *aligned_alloc(size_t alignment, size_t size) {
    count_one();
    return __libc_memalign(alignment, size);
}

LATHE_EXPORT int posix_memalign(void **memory, size_t alignment, size_t size) {
    count_one();
    *memory = __libc_memalign(alignment, size);
    return *memory == NULL ? ENOMEM : 0;
}
