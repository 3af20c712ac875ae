/* SPDX-License-Identifier: MIT */
/* A folder for what is not whole yet, beside where that is to go: hidden, for its maker
 * alone, and locked as long as that lives. What a killed process leaves is swept away
 * by the next that makes one of the same kind in the same place; one that is told to
 * end takes its own away first. What goes into it is not known here. */
#ifndef HOST_BUNDLE_ASIDE_H
#define HOST_BUNDLE_ASIDE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Starts as ASIDE_NONE. */
struct aside {
    char *path; /* NULL: none, or it has a name of its own now */
    int folder;
    bool is_deaf; /* signals are held back */
    sigset_t ends, before;
};
#define ASIDE_NONE                                                                     \
    { .folder = -1 }

/* Takes away what processes that were killed have left in a place; returns how many. */
int aside_sweep(const char *place, const char *kind);
/* <place>/<kind>XXXXXX, open and locked. Until aside_close, SIGHUP, SIGINT and SIGTERM
 * wait. LATHE_ECREATE, LATHE_EIO. */
lathe_status aside_open(const char *place, const char *kind, struct aside *aside,
                        struct error *err);
/* Is there room for so many bytes, and some for others? LATHE_EIO with how much there
 * is. */
lathe_status aside_check_room(const struct aside *aside, const char *place,
                              int64_t bytes, struct error *err);
/* Has one of those signals come? Then it takes effect as soon as aside_close was
 * called, which should be soon. */
bool aside_is_told(const struct aside *aside);
/* The folder is somebody's from now on, under another name. */
void aside_keep(struct aside *aside);
/* What still has its first name goes. ASIDE_NONE is fine. */
void aside_close(struct aside *aside);

#endif
