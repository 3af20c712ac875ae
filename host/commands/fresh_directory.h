/* SPDX-License-Identifier: MIT */
/* The directory in which a run is done again: the one that was asked for, or one in a
 * staging directory beside the run. It is not made here, only its parent is. */
#ifndef HOST_COMMANDS_FRESH_DIRECTORY_H
#define HOST_COMMANDS_FRESH_DIRECTORY_H

#include "bundle/staging.h"
#include "commands/original.h"

/* Starts as FRESH_DIRECTORY_NONE. */
struct fresh_directory {
    char *path;
    struct staging staging; /* which holds it, unless it was asked for */
    bool is_kept;
};
#define FRESH_DIRECTORY_NONE                                                           \
    { .staging = STAGING_NONE }

/* `asked`: the directory, or NULL. `is_kept`: fresh_directory_close leaves one that was
 * not asked for. LATHE_ECREATE: it would be in the original, or cannot be made. */
lathe_status fresh_directory_open(const char *asked, const struct original *original,
                                  bool is_kept, struct fresh_directory *fresh,
                                  struct error *err);
/* Will fresh_directory_close remove it? */
bool fresh_directory_is_temporary(const struct fresh_directory *fresh);
void fresh_directory_close(struct fresh_directory *fresh);

#endif
