/* SPDX-License-Identifier: MIT */
/* Draft: which checkpoints are kept. Saving itself is the host's: a callback asks for
 * it by LATHE_REQUEST_SAVE, and it happens at the next boundary. A callback gets this
 * table by host->extension(host, LATHE_CHECKPOINTS). */
#ifndef LATHE_DRAFT_CHECKPOINT_H
#define LATHE_DRAFT_CHECKPOINT_H

#include "../host.h"

#define LATHE_CHECKPOINTS "lathe.checkpoints/draft"

typedef struct lathe_checkpoints {
    uint32_t size, reserved;
    /* How many files there may be, the newest and the best included; 0: all. [load] */
    void (*keep)(const struct lathe_host *, int64_t count);
    /* The state at the next boundary is the best so far: it is saved, and kept until
     * another is. [loop] */
    void (*best)(const struct lathe_host *);
} lathe_checkpoints;

#endif
