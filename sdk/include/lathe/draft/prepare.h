/* SPDX-License-Identifier: MIT */
/* Draft: what a model derives from its weights (bf16 copies, packed matrices), made
 * once a change and shared by all instances. A model offers it as extension(self,
 * LATHE_PREPARE). */
#ifndef LATHE_DRAFT_PREPARE_H
#define LATHE_DRAFT_PREPARE_H

#include "../model.h"

#define LATHE_PREPARE "lathe.prepare/draft"

typedef struct lathe_prepare {
    uint32_t size, reserved;
    /* How many bytes the derived memory takes, under the layout last bound. [load] */
    int64_t (*bytes)(void *self);
    /* Fills part `part` of `parts` of the derived memory, which is the host's and
     * 64-byte aligned; parts run at once on several threads. Cannot fail. [any] */
    void (*prepare)(void *self, const float *weights, void *derived, int32_t part,
                    int32_t parts);
    /* Says which derived memory belongs to a pass's weights, before forward; borrowed
     * until the pass ends. [work] */
    void (*use)(void *self, const void *derived);
} lathe_prepare;

#endif
