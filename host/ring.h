/* SPDX-License-Identifier: MIT */
/* The last calls of plugins that a session made, and those in progress: what is left to
 * tell after a crash. A ring has no pointer in it, so it can lie in a file, where it
 * outlives whoever wrote it (SIGKILL too). Entering costs a few nanoseconds and takes
 * no lock. It is no record of a run: only the newest calls are there.
 *
 * What is tagged [signal] may be called in a signal handler: it takes no memory and no
 * lock, and at worst shows a call that was just being noted. */
#ifndef HOST_RING_H
#define HOST_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define RING_FILE "calls.ring" /* in the directory of a run that goes on, or died */
#define RING_CALLS 64
#define RING_PLUGINS 96 /* the last one stands for all others */
#define RING_FUNCTIONS 32
#define RING_WORKERS 256
#define RING_DEPTH 3 /* a callback asks the host to predict, which calls the model */

struct ring_call {
    int64_t step;
    uint64_t what; /* epoch << 32 | plugin << 16 | function << 8 | worker */
};

struct ring_worker {
    _Alignas(64) uint32_t depth; /* calls in progress */
    struct ring_call calls[RING_DEPTH];
};

struct ring {
    char magic[8];
    uint32_t size, plugin_count;
    _Alignas(64) uint64_t count; /* calls noted so far */
    _Alignas(64) struct ring_call calls[RING_CALLS];
    struct ring_worker workers[RING_WORKERS];
    char functions[RING_FUNCTIONS][24];
    char plugins[RING_PLUGINS][128];
};

/* `functions`: their names, in the order of their numbers. NULL: out of memory. */
struct ring *ring_create(const char *const *functions, int count);
/* The plugin's number. */
uint16_t ring_add_plugin(struct ring *ring, const char *label);
/* From now on it lies in a file, made or replaced; its address stays. False: it cannot
 * (the disk is full, say), and all is as before. */
bool ring_move(struct ring *ring, const char *path);
void ring_destroy(struct ring *ring); /* leaves the file; NULL is fine */

static inline struct ring_call ring_call(int64_t epoch, int64_t step, uint16_t plugin,
                                         int function, int worker) {
    return (struct ring_call){.step = step,
                              .what = (uint64_t)epoch << 32 | (uint64_t)plugin << 16 |
                                      (uint64_t)function << 8 | (uint64_t)worker};
}

static inline void ring_set(struct ring_call *to, struct ring_call call) {
    __atomic_store_n(&to->step, call.step, __ATOMIC_RELAXED);
    __atomic_store_n(&to->what, call.what, __ATOMIC_RELAXED);
}

/* Notes a call that begins on a worker. is_alone: no other worker is at work. [any] */
static inline void ring_enter(struct ring *ring, struct ring_call call, bool is_alone) {
    struct ring_worker *worker = &ring->workers[call.what & 0xFF];
    uint64_t at;
    if (is_alone) {
        at = __atomic_load_n(&ring->count, __ATOMIC_RELAXED);
        __atomic_store_n(&ring->count, at + 1, __ATOMIC_RELAXED);
    } else {
        at = __atomic_fetch_add(&ring->count, 1, __ATOMIC_RELAXED);
    }
    ring_set(&ring->calls[at % RING_CALLS], call);
    const uint32_t depth = __atomic_load_n(&worker->depth, __ATOMIC_RELAXED);
    if (depth < RING_DEPTH) ring_set(&worker->calls[depth], call);
    __atomic_store_n(&worker->depth, depth + 1, __ATOMIC_RELAXED);
}

/* The worker's newest call is over. [any] */
static inline void ring_leave(struct ring *ring, int worker) {
    uint32_t *depth = &ring->workers[worker].depth;
    __atomic_store_n(depth, __atomic_load_n(depth, __ATOMIC_RELAXED) - 1,
                     __ATOMIC_RELAXED);
}

/* ---- reading ---- */

/* The innermost call in progress on a worker; false: none. [signal] */
bool ring_now(const struct ring *ring, int worker, struct ring_call *call);
/* The call in progress to tell when only one can be: this worker's, else that of the
 * lowest worker that has one. [signal] */
bool ring_culprit(const struct ring *ring, int worker, struct ring_call *call);
/* The i-th newest call, from 0; false: there are no more. [signal] */
bool ring_last(const struct ring *ring, int i, struct ring_call *call);
/* "callbacks[1] chaos (chaos.so 1.0.0) in step_end at epoch 1 step 5 (thread 0)", cut
 * to fit; its length. [signal] */
size_t ring_describe(const struct ring *ring, const struct ring_call *call, char *line,
                     size_t size);
/* What a run that died was doing, from the file it left: the call in progress, or the
 * last one, as ring_describe has it. False: there is no such file, or it is none. */
bool ring_read_last(const char *path, char *line, size_t size);

#endif
