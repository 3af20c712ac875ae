/* SPDX-License-Identifier: MIT */
/* Compiled against headers with more functions than this host knows: sound. */
#include <stdlib.h>

#include <lathe/callback.h>

struct larger {
    lathe_callback_ops ops;
    void (*later)(void);
};

static lathe_status make(const lathe_host *host, void **self) {
    (void)host;
    *self = malloc(1);
    return *self ? LATHE_OK : LATHE_ENOMEM;
}

static const struct larger table = {
    .ops = {.size = sizeof(struct larger), .create = make, .destroy = free}};
LATHE_EXPORT extern const lathe_plugin lathe_plugin_v1;
const lathe_plugin lathe_plugin_v1 = {sizeof(lathe_plugin), LATHE_KIND_CALLBACK, 7, 0,
                                      &table};
