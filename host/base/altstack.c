/* SPDX-License-Identifier: MIT */
#include "base/altstack.h"

#include <signal.h>
#include <sys/mman.h>

size_t altstack_size(void) {
    stack_t now;
    if (sigaltstack(NULL, &now) || now.ss_flags & SS_DISABLE) return 0;
    return now.ss_size;
}

void altstack_begin(struct altstack *stack, size_t bytes) {
    stack->memory = NULL;
    stack->size = bytes;
    if (!bytes || altstack_size()) return;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    const stack_t own = {.ss_sp = memory, .ss_size = bytes};
    if (memory == MAP_FAILED) return;
    if (sigaltstack(&own, NULL))
        munmap(memory, bytes);
    else
        stack->memory = memory;
}

void altstack_end(struct altstack *stack) {
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (!stack->memory) return;
    sigaltstack(&none, NULL);
    munmap(stack->memory, stack->size);
    stack->memory = NULL;
}
