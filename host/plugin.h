/* SPDX-License-Identifier: MIT */
/* One plugin at work: its library, checked against the ABI, and an instance of it with
 * the host table that tells who is calling. */
#ifndef HOST_PLUGIN_H
#define HOST_PLUGIN_H

#include <stdbool.h>

#include <lathe/host.h>

#include "dylib.h"
#include "experiment.h"
#include "store.h"

/* A library that has been opened, or a plugin that is linked in. */
struct library {
    const struct manifest *manifest;
    struct dylib *dylib; /* NULL: linked in */
    const lathe_plugin *entry;
    char digest[DIGEST_HEX]; /* of what was loaded; "" for one that is linked in */
};

/* How libraries come in. Begins as {log}, or with who loads one elsewhere first. */
struct loading {
    struct log *log;
    /* lathe_session_options.try_library; NULL: nobody */
    lathe_status (*try)(void *context, const char *library, lathe_error *error);
    void *context;
    bool did_note; /* that there are no copies: once is enough */
};

/* Opens the manifest's library, a copy of it where there can be one (store.h), and
 * checks what it exports: the symbol, its kind, the sizes, what it needs, its mandatory
 * functions. One that was never loaded here is tried first. */
lathe_status library_open(const struct manifest *manifest, struct loading *loading,
                          struct library *library, struct error *err);
void library_close(struct library *library);
/* Tells every BLAS that came with the library to use one thread, for the calling
 * thread. */
void library_quiet_blas(const struct library *library);
/* "OpenBLAS SkylakeX", in `name`; "" when the library brought none that says. */
void library_blas_name(const struct library *library, char *name, size_t size);

#define PLUGIN_TIMED_MAX 32

struct plugin {
    const struct use *use;
    const struct library *library;
    char label[192];       /* callbacks[1] early-stopping (early-stopping.so 1.0.0) */
    void *session;         /* whose services it gets */
    struct plugin *nested; /* one per use->nested */
    const void *ops;       /* lathe_<kind>_ops */
    void *self;
    bool is_created;
    uint16_t number; /* in the session's ring of calls */
    lathe_host host;
    struct error misuse; /* the first service called wrongly; status LATHE_OK: none */
    struct error *failures; /* [workers]: what lathe_fail said last on that thread */
    int worker_count;
    struct json *notes; /* {name: text} of how it works; NULL: it said nothing */
    struct {
        int64_t calls, nanoseconds;
    } times[PLUGIN_TIMED_MAX]; /* by function, where the session is profiled */
};

/* Makes the instance, its nested ones being made already. `services` is copied for it,
 * with this plugin as context. On failure *plugin can be finished like any other. */
lathe_status plugin_create(struct plugin *plugin, const lathe_host *services,
                           struct log *log, struct error *err);
void plugin_finish(struct plugin *plugin); /* destroys it, then the nested ones */

/* Has it add its state to `bytes`, or take such state up. It must have the function.
 * The status is the plugin's own, for plugin_failure. */
lathe_status plugin_save(struct plugin *plugin, struct text *bytes);
lathe_status plugin_load(struct plugin *plugin, const void *bytes, int64_t count);

/* Turns a failure that `function` of the plugin returned into an error: the text it
 * gave, and who; the caller adds when. Returns the status, made one of ours. */
lathe_status plugin_failure(struct plugin *plugin, lathe_status status,
                            const char *function, struct error *err);
/* Of what lathe_fail said on several threads, only this one's counts; -1: none's. */
void plugin_hear(struct plugin *plugin, int worker);
/* What it said and did wrong never happened. */
void plugin_forget(struct plugin *plugin);
/* A call of it is over, where the session is profiled. [any] */
void plugin_add_time(struct plugin *plugin, int function, int64_t nanoseconds);
/* A service was called wrongly: remembered once, to fail the present or next call with
 * this status. [any] */
__attribute__((format(printf, 3, 4))) void plugin_misuse(struct plugin *plugin,
                                                         lathe_status status,
                                                         const char *format, ...);

#endif
