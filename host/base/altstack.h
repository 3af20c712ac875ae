/* SPDX-License-Identifier: MIT */
/* A stack for signal handlers, without which a stack that overflows cannot be reported.
 * Each thread has its own. Whoever handles signals gives one to the thread that opens
 * sessions; from there on a thread that calls plugins takes one where the thread that
 * starts it has one. */
#ifndef HOST_BASE_ALTSTACK_H
#define HOST_BASE_ALTSTACK_H

#include <stddef.h>

struct altstack {
    void *memory; /* NULL: none was wanted, there is one already, or no memory */
    size_t size;
};

/* Of the calling thread's; 0: it has none. */
size_t altstack_size(void);
/* For the calling thread, which ends it too; 0 bytes: none. */
void altstack_begin(struct altstack *stack, size_t bytes);
void altstack_end(struct altstack *stack);

#endif
