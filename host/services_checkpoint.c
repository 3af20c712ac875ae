/* SPDX-License-Identifier: MIT */
/* lathe/draft/checkpoint.h: which checkpoints are kept. */
#include <lathe/draft/checkpoint.h>

#include "services.h"

/* Several callbacks may say so: each gets at least what it wants. */
static void keep(const lathe_host *host, int64_t count) {
    lathe_session *s = services_session(host);
    if (!services_may_load(host, "keep")) return;
    if (count < 0)
        plugin_misuse(services_caller(host), LATHE_EPLUGIN,
                      "it wants to keep %lld checkpoints", (long long)count);
    else if (s->kept && (!count || count > s->kept))
        s->kept = count;
}

static void best(const lathe_host *host) {
    lathe_session *s = services_session(host);
    if (!services_may_loop(host, "best")) return;
    s->is_best = true;
    s->requests |= LATHE_REQUEST_SAVE;
}

const void *services_checkpoints(void) {
    static const lathe_checkpoints table = {
        .size = sizeof table, .keep = keep, .best = best};
    return &table;
}
