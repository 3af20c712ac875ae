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

/* As it stands in environment.json; the caller's; NULL: out of memory. */
struct json *environment_plugin(const struct environment_plugin *plugin);

/* What is known at the start; all of it is borrowed, but for the log only while the
 * environment begins. */
struct environment_start {
    const char *blas;                   /* "OpenBLAS SkylakeX"; NULL: none */
    int threads;                        /* that take part in the passes */
    const struct json *plugins, *notes; /* a list; {plugin: {name: text}} */
    const char *const *files;
    size_t file_count;
    /* Of a run that goes on from this step: what environment.json was. NULL: it begins.
     * Data that is not what it was is told to the log, once that is known. */
    const struct json *before;
    int64_t step;
    bool keeps_data; /* what is not opened any more, because its stage is over */
    struct log *log;
};

/* Starts: writes environment.json without the digests of data, and starts the thread,
 * which hashes it. Without a directory nothing is done. */
lathe_status environment_begin(struct rundir *rundir,
                               const struct environment_start *start,
                               struct environment **environment, struct error *err);
/* Asked now and then: once all data is hashed, it is written, and what is not what it
 * was is told. NULL is fine. */
void environment_poll(struct environment *environment);
/* From this step on these plugins are at work; it is written at the end. NULL is
 * fine. */
void environment_renew(struct environment *environment, const struct json *plugins,
                       int64_t step);
/* Lets environment_end not wait: files that are not done get an "error" instead of a
 * digest. Safe in a signal handler; NULL is fine. */
void environment_cancel(struct environment *environment);
/* Waits for the thread, writes environment.json with all digests, and frees. A file
 * that cannot be hashed has "error" instead. NULL is fine. */
lathe_status environment_end(struct environment *environment, struct error *err);

#endif
