/* SPDX-License-Identifier: MIT */
/* Draft: where the time of a run goes. A callback takes the host's table in create,
 * as extension(host, LATHE_PROFILE); from then on the host looks at the clock before
 * and after every call of a plugin. Nobody takes it: nothing is measured. */
#ifndef LATHE_DRAFT_PROFILE_H
#define LATHE_DRAFT_PROFILE_H

#include "../host.h"

#define LATHE_PROFILE "lathe.profile/draft"

/* One function of one plugin. The host fills as much as `size` covers. */
typedef struct lathe_profile_entry {
    uint32_t size, reserved;
    const char *plugin;   /* "model mlp"; borrowed for the session */
    const char *function; /* "forward"; static */
    int64_t calls;
    double seconds; /* added over threads */
} lathe_profile_entry;

typedef struct lathe_profile {
    uint32_t size, reserved;
    /* The i-th entry that has calls, in the order of composition; instances of one
     * plugin under one id are added up. LATHE_END past the last one. [loop] */
    lathe_status (*entry)(const struct lathe_host *host, int64_t i,
                          lathe_profile_entry *entry);
} lathe_profile;

#endif
