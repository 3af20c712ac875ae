/* SPDX-License-Identifier: MIT */
/* What a run ran on: versions, processor, BLAS kernel, digests of plugins and data, in
 * environment.json. Nobody's name is in it: not the machine's, not the user's (a path
 * under the home directory is written with "~"). Data is hashed by a thread of its own
 * at the lowest priority; begin it when nothing of the start waits any more. */
#ifndef HOST_ENVIRONMENT_H
#define HOST_ENVIRONMENT_H

#include "base/log.h"
#include "json.h"
#include "rundir.h"

struct environment;

struct environment_plugin {
    const char *kind, *name, *version;
    const char *library; /* path; "" for a linked one */
    const char *digest;  /* of what was loaded; "" for a linked one */
};

/* Starts: remembers the (copied) lists, writes environment.json without the digests of
 * data, and starts the thread. Without a directory nothing is done. `blas`:
 * "OpenBLAS SkylakeX", or NULL; threads: that take part in the passes. `notes`:
 * {plugin: {name: text}}. */
lathe_status environment_begin(struct rundir *rundir, const char *blas, int threads,
                               const struct environment_plugin *plugins,
                               size_t plugin_count, const struct json *notes,
                               const char *const *files, size_t file_count,
                               struct environment **environment, struct error *err);
/* Lets environment_end not wait: files that are not done get an "error" instead of a
 * digest. Safe in a signal handler; NULL is fine. */
void environment_cancel(struct environment *environment);
/* Waits for the thread, writes environment.json with all digests, and frees. A file
 * that cannot be hashed has "error" instead. NULL is fine. */
lathe_status environment_end(struct environment *environment, struct error *err);

#endif
