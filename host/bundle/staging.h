/* SPDX-License-Identifier: MIT */
/* A staging directory: what is not whole yet lies in it, beside the place where it will
 * go. It is hidden, only its maker may enter, and it is locked as long as its maker
 * lives. If a process is killed, its directory is removed by the next process that
 * makes one of the same prefix in the same place. A process that is told to end removes
 * its own first. This module does not know what goes into the directory. */
#ifndef HOST_BUNDLE_STAGING_H
#define HOST_BUNDLE_STAGING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Starts as STAGING_NONE. */
struct staging {
    char *path;      /* NULL: there is none, or it has another name now */
    int folder;      /* open; -1: none */
    bool is_holding; /* `held` are blocked; `before` is the mask to put back */
    sigset_t held, before;
};
#define STAGING_NONE                                                                   \
    { .folder = -1 }

/* Removes what killed processes have left in a place; returns how many there were. */
int staging_sweep(const char *place, const char *prefix);
/* Makes <place>/<prefix>XXXXXX, open and locked. Until staging_close, SIGHUP, SIGINT
 * and SIGTERM are blocked. LATHE_ECREATE, LATHE_EIO. */
lathe_status staging_open(const char *place, const char *prefix,
                          struct staging *staging, struct error *err);
/* Lets those signals in again, for who has handlers that lead to staging_close. */
void staging_let_signals(struct staging *staging);
/* Is there room for so many bytes, and a reserve for others? LATHE_EIO: no, and the
 * text says how much there is. */
lathe_status staging_check_room(const struct staging *staging, const char *place,
                                int64_t bytes, struct error *err);
/* Is a blocked signal waiting? It takes effect in staging_close, so call that soon. */
bool staging_is_interrupted(const struct staging *staging);
/* The same as a failure, LATHE_EIO. */
lathe_status staging_check_signals(const struct staging *staging, struct error *err);
/* Call it after a rename: staging_close then leaves the directory alone. */
void staging_keep(struct staging *staging);
/* Removes the directory, unless it was kept, and lets signals in. STAGING_NONE is
 * fine. */
void staging_close(struct staging *staging);

#endif
