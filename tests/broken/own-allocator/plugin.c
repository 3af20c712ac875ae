/* SPDX-License-Identifier: MIT */
/* Sound: brings an allocator of its own, hidden, as one does that is linked statically
 * with another malloc. What the host frees it never sees, and the other way round. */
#include <stddef.h>
#include <string.h>

#include <lathe/callback.h>

static _Alignas(16) unsigned char arena[65536];
static size_t used;

void *malloc(size_t size);
void free(void *memory);

void *malloc(size_t size) {
    unsigned char *memory = arena + used;
    used += (size + 15) / 16 * 16;
    return used <= sizeof arena ? memory : NULL;
}

void free(void *memory) {
    if ((unsigned char *)memory < arena || (unsigned char *)memory >= arena + used)
        __builtin_trap();
}

static lathe_status make(const lathe_host *host, void **self) {
    *self = malloc(8);
    if ((unsigned char *)*self != arena)
        return lathe_fail(host, LATHE_EPLUGIN, "malloc of somebody else ran");
    return LATHE_OK;
}

/* Everything that the host gives and takes goes through its own hands. */
static void unmake(void *self) {
    free(self);
}

static lathe_status save(void *self, const lathe_writer *to) {
    return to->write(to, self, 8);
}

LATHE_CALLBACK(.create = make, .destroy = unmake, .save = save);
