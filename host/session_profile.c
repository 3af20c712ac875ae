/* SPDX-License-Identifier: MIT */
/* Where the time goes, call by call, for the callback that asks
 * (lathe/draft/profile.h). */
#include <stdlib.h>
#include <string.h>

#include <lathe/draft/profile.h>

#include "session_calls.h"

static void add_up(const lathe_session *s, const struct plugin *plugin, int function,
                   lathe_profile_entry *entry) {
    int64_t calls = plugin->times[function].calls;
    int64_t nanoseconds = plugin->times[function].nanoseconds;
    for (int64_t i = 1; plugin == &s->shards[0].model && i < s->shard_count; i++) {
        calls += s->shards[i].model.times[function].calls;
        nanoseconds += s->shards[i].model.times[function].nanoseconds;
    }
    entry->plugin = plugin->label;
    entry->function = session_function_name(function);
    entry->calls = calls;
    entry->seconds = 1e-9 * (double)nanoseconds;
}

static lathe_status entry_at(const lathe_host *host, int64_t index,
                             lathe_profile_entry *entry) {
    lathe_session *s = ((const struct plugin *)host->context)->session;
    lathe_profile_entry full = {.size = entry->size};
    const struct plugin *plugin;
    for (int64_t i = 0; (plugin = session_plugin_at(s, i)); i++)
        for (int function = 0; function < FUNCTION_COUNT; function++) {
            add_up(s, plugin, function, &full);
            if (!full.calls || index-- > 0) continue;
            memcpy(entry, &full, entry->size < sizeof full ? entry->size : sizeof full);
            return LATHE_OK;
        }
    return LATHE_END;
}

const void *session_profile(lathe_session *s) {
    static const lathe_profile profile = {.size = sizeof profile, .entry = entry_at};
    return session_keep_times(s) ? &profile : NULL;
}
