/* SPDX-License-Identifier: MIT */
/* At the end of the run: a table in the log, and one line for each function of each
 * plugin in timing.jsonl of the run directory. Times of passes are added over
 * threads. */
#include <stdlib.h>
#include <string.h>

#include <lathe/callback.h>
#include <lathe/draft/profile.h>

struct timer {
    const lathe_host *host;
    const lathe_profile *profile;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct timer *t = malloc(sizeof *t);
    if (!t) return lathe_fail(host, LATHE_ENOMEM, "no memory for timer");
    t->host = host;
    t->profile = host->extension(host, LATHE_PROFILE);
    if (!t->profile) {
        free(t);
        return lathe_fail(host, LATHE_EPLUGIN, "this host does not offer %s",
                          LATHE_PROFILE);
    }
    *self = t;
    return LATHE_OK;
}

static FILE *open_times(const lathe_host *host) {
    const char *directory = host->run_directory(host);
    char path[4096];
    if (!directory) return NULL;
    snprintf(path, sizeof path, "%s/timing.jsonl", directory);
    return fopen(path, "ae");
}

static void write_entry(FILE *file, const lathe_profile_entry *entry) {
    fprintf(file, "{\"event\":\"profile\",\"plugin\":\"%s\",\"function\":\"%s\"",
            entry->plugin, entry->function);
    fprintf(file, ",\"calls\":%lld,\"microseconds\":%lld}\n", (long long)entry->calls,
            (long long)(entry->seconds * 1e6 + 0.5));
}

static lathe_status run_end(void *self, const lathe_moment *at) {
    const struct timer *t = self;
    lathe_profile_entry entry = {.size = sizeof entry};
    FILE *file = open_times(t->host);
    (void)at;
    lathe_log(t->host, LATHE_LOG_INFO, "%10s %10s %12s  %s", "seconds", "calls",
              "µs a call", "what");
    for (int64_t i = 0; t->profile->entry(t->host, i, &entry) == LATHE_OK; i++) {
        lathe_log(t->host, LATHE_LOG_INFO, "%10.3f %10lld %12.2f  %s: %s",
                  entry.seconds, (long long)entry.calls,
                  entry.seconds * 1e6 / (double)entry.calls, entry.plugin,
                  entry.function);
        if (file) write_entry(file, &entry);
    }
    if (file && (ferror(file) | fclose(file)))
        return lathe_fail(t->host, LATHE_EIO, "timing.jsonl cannot be written");
    return LATHE_OK;
}

LATHE_CALLBACK(.create = create, .destroy = free, .run_end = run_end);
