/* SPDX-License-Identifier: MIT */
/* Draft: a model tells during backward that a parameter's gradient is final, so that
 * the host can send it while the rest is computed. The host offers its side as
 * extension(host, LATHE_COMPLETE); a model that finds it NULL does not call it. */
#ifndef LATHE_DRAFT_COMPLETE_H
#define LATHE_DRAFT_COMPLETE_H

#include "../model.h"

#define LATHE_COMPLETE "lathe.complete/draft"

typedef struct lathe_complete {
    uint32_t size, reserved;
    /* The gradient of parameter `index` will not change again in this pass. [work] */
    void (*complete)(const struct lathe_host *host, const lathe_pass *pass,
                     int32_t index);
} lathe_complete;

#endif
