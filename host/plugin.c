/* SPDX-License-Identifier: MIT */
#include "plugin.h"

#include <stdlib.h>
#include <string.h>

#include "guard.h"
#include "workers.h"

static const lathe_any_ops *any_ops(const struct plugin *plugin) {
    return plugin->ops;
}

/* The plugin's own text for this thread; foreign threads share the first place. */
static struct error *failure_here(struct plugin *plugin) {
    int worker = workers_self();
    return &plugin->failures[worker > 0 && worker < plugin->worker_count ? worker : 0];
}

static lathe_status keep_failure(const lathe_host *host, lathe_status status,
                                 const char *text) {
    struct plugin *plugin = host->context;
    if (status >= 0) status = LATHE_EPLUGIN;
    return fail(failure_here(plugin), status, "%s", text ? text : "");
}

void plugin_misuse(struct plugin *plugin, lathe_status status, const char *format,
                   ...) {
    char text[sizeof plugin->misuse.what];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    lathe_status expected = LATHE_OK;
    if (__atomic_compare_exchange_n(&plugin->misuse.status, &expected, status, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        snprintf(plugin->misuse.what, sizeof plugin->misuse.what, "%s", text);
}

lathe_status plugin_create(struct plugin *plugin, const lathe_host *services,
                           struct log *log, struct error *err) {
    plugin->host = *services;
    plugin->host.context = plugin;
    plugin->host.fail = keep_failure;
    plugin->ops = plugin->library->entry->ops;
    plugin->failures = calloc((size_t)plugin->worker_count, sizeof *plugin->failures);
    if (!plugin->failures)
        return fail(err, LATHE_ENOMEM, "no memory for %s", plugin->label);
    struct guard guard;
    guard_begin(&guard);
    lathe_status status = any_ops(plugin)->create(&plugin->host, &plugin->self);
    guard_end(&guard, log, plugin->label);
    plugin->is_created = status == LATHE_OK;
    if (status != LATHE_OK || plugin->misuse.status != LATHE_OK)
        return plugin_failure(plugin, status, "create", err);
    return LATHE_OK;
}

void plugin_finish(struct plugin *plugin) {
    if (plugin->is_created && any_ops(plugin)->destroy)
        any_ops(plugin)->destroy(plugin->self);
    plugin->is_created = false;
    for (size_t i = 0; plugin->nested && i < plugin->use->nested_count; i++)
        plugin_finish(&plugin->nested[i]);
    free(plugin->nested);
    free(plugin->failures);
    json_close(plugin->notes);
    plugin->notes = NULL;
    plugin->nested = NULL;
    plugin->failures = NULL;
}

/* ---- state ---- */

static lathe_status write_bytes(const lathe_writer *to, const void *bytes,
                                int64_t count) {
    struct text *text = to->context;
    if (count < 0) return LATHE_EPLUGIN;
    text_add_bytes(text, bytes, (size_t)count);
    return text->is_broken ? LATHE_ENOMEM : LATHE_OK;
}

lathe_status plugin_save(struct plugin *plugin, struct text *bytes) {
    const lathe_writer to = {.size = sizeof to, .context = bytes, .write = write_bytes};
    return any_ops(plugin)->save(plugin->self, &to);
}

struct cursor {
    const char *bytes;
    int64_t count, at;
};

static lathe_status read_bytes(const lathe_reader *from, void *bytes, int64_t count,
                               int64_t *got) {
    struct cursor *cursor = from->context;
    *got = cursor->count - cursor->at < count ? cursor->count - cursor->at : count;
    if (*got < 0) *got = 0;
    if (*got) memcpy(bytes, cursor->bytes + cursor->at, (size_t)*got);
    cursor->at += *got;
    return LATHE_OK;
}

lathe_status plugin_load(struct plugin *plugin, const void *bytes, int64_t count) {
    struct cursor cursor = {.bytes = bytes, .count = count};
    const lathe_reader from = {
        .size = sizeof from, .context = &cursor, .read = read_bytes};
    return any_ops(plugin)->load(plugin->self, &from);
}

/* ---- times and failures ---- */

void plugin_add_time(struct plugin *plugin, int function, int64_t nanoseconds) {
    __atomic_fetch_add(&plugin->times[function].calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&plugin->times[function].nanoseconds, nanoseconds,
                       __ATOMIC_RELAXED);
}

void plugin_hear(struct plugin *plugin, int worker) {
    for (int i = 0; i < plugin->worker_count; i++)
        if (i != worker) plugin->failures[i].status = LATHE_OK;
}

void plugin_forget(struct plugin *plugin) {
    plugin_hear(plugin, -1);
    plugin->misuse.status = LATHE_OK;
}

static bool is_ours(lathe_status status) {
    return status >= LATHE_EGATE && status < 0;
}

lathe_status plugin_failure(struct plugin *plugin, lathe_status status,
                            const char *function, struct error *err) {
    const struct error *said = NULL;
    if (plugin->misuse.status != LATHE_OK) said = &plugin->misuse;
    for (int i = 0; !said && plugin->failures && i < plugin->worker_count; i++)
        if (plugin->failures[i].status != LATHE_OK) said = &plugin->failures[i];
    const lathe_status returned = status;
    if (plugin->misuse.status != LATHE_OK) status = plugin->misuse.status;
    if (!is_ours(status)) status = LATHE_EPLUGIN;
    if (said)
        fail(err, status, "%s", said->what);
    else
        fail(err, status, "%s failed (status %d) without saying why", function,
             returned);
    if (said && said->help[0]) error_help(err, "%s", said->help);
    error_where(err, "%s in %s", plugin->label, function);
    if (plugin->failures) plugin_hear(plugin, -1);
    return status;
}
