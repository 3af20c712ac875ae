/* SPDX-License-Identifier: MIT */
#include "ring.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/plain.h"

static const char magic[8] = "lathe/r1";

struct ring *ring_create(const char *const *functions, int count) {
    void *memory = mmap(NULL, sizeof(struct ring), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    struct ring *ring = memory;
    memcpy(ring->magic, magic, sizeof magic);
    ring->size = sizeof *ring;
    for (int i = 0; i < count && i < RING_FUNCTIONS; i++)
        strncpy(ring->functions[i], functions[i], sizeof ring->functions[i] - 1);
    return ring;
}

uint16_t ring_add_plugin(struct ring *ring, const char *label) {
    const uint32_t at = ring->plugin_count;
    for (uint32_t i = 0; i < at; i++) /* composed again, for another stage */
        if (!strncmp(ring->plugins[i], label, sizeof ring->plugins[i] - 1))
            return (uint16_t)i;
    if (at == RING_PLUGINS - 1) label = "one of the other plugins";
    if (at >= RING_PLUGINS) return RING_PLUGINS - 1;
    strncpy(ring->plugins[at], label, sizeof ring->plugins[at] - 1);
    ring->plugin_count++;
    return (uint16_t)at;
}

/* Written first, so that every page has its place on the disk: a page that had none
 * would be SIGBUS later. */
bool ring_move(struct ring *ring, const char *path) {
    const int flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
    int fd = file_keep_clear(open(path, flags, 0666));
    if (fd < 0) return false;
    bool is_moved = file_write(fd, ring, sizeof *ring, path, NULL) == LATHE_OK &&
                    posix_fallocate(fd, 0, sizeof *ring) == 0 &&
                    mmap(ring, sizeof *ring, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
    close(fd);
    if (!is_moved) unlink(path);
    return is_moved;
}

void ring_destroy(struct ring *ring) {
    if (ring) munmap(ring, sizeof *ring);
}

/* ---- reading ---- */

static struct ring_call get(const struct ring_call *from) {
    return (struct ring_call){.step = __atomic_load_n(&from->step, __ATOMIC_RELAXED),
                              .what = __atomic_load_n(&from->what, __ATOMIC_RELAXED)};
}

bool ring_now(const struct ring *ring, int worker, struct ring_call *call) {
    if (worker < 0 || worker >= RING_WORKERS) return false;
    const struct ring_worker *at = &ring->workers[worker];
    const uint32_t depth = __atomic_load_n(&at->depth, __ATOMIC_RELAXED);
    if (!depth) return false;
    *call = get(&at->calls[(depth < RING_DEPTH ? depth : RING_DEPTH) - 1]);
    return true;
}

bool ring_culprit(const struct ring *ring, int worker, struct ring_call *call) {
    bool is_found = ring_now(ring, worker, call);
    for (int i = 0; !is_found && i < RING_WORKERS; i++)
        is_found = ring_now(ring, i, call);
    return is_found;
}

bool ring_last(const struct ring *ring, int i, struct ring_call *call) {
    const uint64_t count = __atomic_load_n(&ring->count, __ATOMIC_RELAXED);
    if (i < 0 || i >= RING_CALLS || (uint64_t)i >= count) return false;
    *call = get(&ring->calls[(count - 1 - (uint64_t)i) % RING_CALLS]);
    return true;
}

size_t ring_describe(const struct ring *ring, const struct ring_call *call, char *line,
                     size_t size) {
    const uint64_t plugin = call->what >> 16 & 0xFFFF,
                   function = call->what >> 8 & 0xFF;
    struct plain to = {line, 0, size};
    if (!size) return 0;
    plain_add_some(&to, plugin < RING_PLUGINS ? ring->plugins[plugin] : "?",
                   sizeof ring->plugins[0]);
    plain_add(&to, " in ");
    plain_add_some(&to, function < RING_FUNCTIONS ? ring->functions[function] : "?",
                   sizeof ring->functions[0]);
    if (call->what >> 32) { /* else before the first epoch: while it was made, say */
        plain_add(&to, " at epoch ");
        plain_add_number(&to, (int64_t)(call->what >> 32));
        plain_add(&to, " step ");
        plain_add_number(&to, call->step);
    }
    plain_add(&to, " (thread ");
    plain_add_number(&to, (int64_t)(call->what & 0xFF));
    plain_add(&to, ")");
    return to.length;
}

bool ring_read_last(const char *path, char *line, size_t size) {
    char *content = NULL;
    size_t length = 0;
    struct ring_call call;
    if (file_read(path, sizeof(struct ring), &content, &length, NULL) != LATHE_OK)
        return false;
    struct ring *ring = aligned_alloc(64, sizeof *ring);
    bool is_known =
        ring && length == sizeof *ring && !memcmp(content, magic, sizeof magic);
    if (is_known) {
        memcpy(ring, content, sizeof *ring);
        is_known = ring->size == sizeof *ring &&
                   (ring_culprit(ring, 0, &call) || ring_last(ring, 0, &call));
    }
    if (is_known) ring_describe(ring, &call, line, size);
    free(ring);
    free(content);
    return is_known;
}
