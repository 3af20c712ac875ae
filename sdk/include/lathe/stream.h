/* SPDX-License-Identifier: MIT */
/* Bytes in order: a plugin's saved state, and the files a dataset reads. */
#ifndef LATHE_STREAM_H
#define LATHE_STREAM_H

#include "abi.h"

typedef struct lathe_writer {
    uint32_t size, reserved;
    void *context; /* the host's */
    /* Appends `count` bytes, copied before it returns. LATHE_EIO when they cannot be
     * kept: pass it on, the host has the text. Thread: the caller's. */
    lathe_status (*write)(const struct lathe_writer *, const void *bytes,
                          int64_t count);
} lathe_writer;

typedef struct lathe_reader {
    uint32_t size, reserved;
    void *context; /* the host's */
    /* Fills `bytes` with up to `count` bytes and puts how many in *got; fewer only at
     * the end, 0 from then on. LATHE_EIO or LATHE_EDATA when the source is broken: pass
     * it on, the host has the text. Thread: the caller's. */
    lathe_status (*read)(const struct lathe_reader *, void *bytes, int64_t count,
                         int64_t *got);
} lathe_reader;

/* Fills `bytes` with the next `count` bytes; LATHE_EDATA when fewer are left. */
static inline lathe_status lathe_read_all(const lathe_reader *from, void *bytes,
                                          int64_t count) {
    int64_t got = 0;
    lathe_status status = from->read(from, bytes, count, &got);
    if (status != LATHE_OK) return status;
    return got == count ? LATHE_OK : LATHE_EDATA;
}

/* For load: fills `state` with all there is, which must be `count` bytes; LATHE_EDATA
 * when there are fewer or more. Look at what was read before you take it over. */
static inline lathe_status lathe_read_state(const lathe_reader *from, void *state,
                                            int64_t count) {
    char more;
    int64_t got = 0;
    lathe_status status = lathe_read_all(from, state, count);
    if (status == LATHE_OK) status = from->read(from, &more, 1, &got);
    return status == LATHE_OK && got ? LATHE_EDATA : status;
}

#endif
