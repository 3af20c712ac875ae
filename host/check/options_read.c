/* SPDX-License-Identifier: MIT */
/* Which options does a plugin ask the host for? The host's own table, with a look at
 * who asks for what before each of its answers. */
#include <string.h>

#include "check/fixture.h"

static const lathe_host *own(lathe_host *host) {
    services_fill(host);
    return host;
}

/* A bit of "layers" for "layers/2/filters". */
static void note(const lathe_host *host, const char *path) {
    const struct plugin *plugin = host->context;
    const lathe_session *s = plugin->session;
    struct fixture *fixture = s->log.context;
    const struct manifest *m = fixture->check->subject->manifest;
    const size_t length = path ? strcspn(path, "/") : 0;
    if (plugin->use->manifest->kind != m->kind ||
        strcmp(plugin->use->manifest->name, m->name) != 0)
        return;
    for (size_t i = 0; path && i < json_size(m->options) && i < 64; i++) {
        const char *name = json_key_at(m->options, i);
        if (strlen(name) == length && !strncmp(name, path, length))
            fixture->options_read |= (uint64_t)1 << i;
    }
}

#define WATCH(type, service)                                                           \
    static type service(const lathe_host *host, const char *path) {                    \
        lathe_host table;                                                              \
        note(host, path);                                                              \
        return own(&table)->service(host, path);                                       \
    }
WATCH(int32_t, has)
WATCH(int64_t, count)
WATCH(double, number)
WATCH(int64_t, integer)
WATCH(const char *, string)
WATCH(int64_t, steps)
WATCH(int32_t, every)

static lathe_status plugin(const lathe_host *host, const char *path, const void **ops,
                           void **self) {
    lathe_host table;
    note(host, path);
    return own(&table)->plugin(host, path, ops, self);
}

static lathe_status map(const lathe_host *host, const char *path, const void **bytes,
                        int64_t *byte_count) {
    lathe_host table;
    note(host, path);
    return own(&table)->map(host, path, bytes, byte_count);
}

static lathe_status open(const lathe_host *host, const char *path,
                         const lathe_reader **stream) {
    lathe_host table;
    note(host, path);
    return own(&table)->open(host, path, stream);
}

void fixture_watch_options(struct fixture *fixture) {
    lathe_host *table = &fixture->session->services;
    table->has = has;
    table->count = count;
    table->number = number;
    table->integer = integer;
    table->string = string;
    table->steps = steps;
    table->every = every;
    table->plugin = plugin;
    table->map = map;
    table->open = open;
}
