/* SPDX-License-Identifier: MIT */
/* What is to be done again: a run that has ended, or a bundle with what came of one. */
#ifndef HOST_COMMANDS_ORIGINAL_H
#define HOST_COMMANDS_ORIGINAL_H

#include "commands/bundles.h"
#include "commands/compare.h"

struct original {
    const char *name;         /* the run's directory, or the bundle */
    struct side side;         /* what came of it */
    struct json *experiment;  /* with every value */
    const char *source;       /* its file */
    struct words overrides;   /* where a bundle's data is, and those that were given */
    struct bundle_use bundle; /* folder NULL: it is a run */
    char *path;               /* original.c's own */
};

/* `word`: a run's directory, its name under runs/, or a bundle. Returns 0, or the exit
 * status with its reason in *err; original_close either way. */
int original_open(const char *word, const struct bundle_flags *flags,
                  const struct words *plugin_paths, const struct words *overrides,
                  int is_quiet, struct original *original, struct error *err);
/* A list of its own, ended by NULL, of the folders in which its plugins are looked for:
 * a bundle's own, those that were given, those of the run. NULL: no memory. Its texts
 * are borrowed. */
const char **original_search(const struct original *original,
                             const struct words *plugin_paths);
void original_close(struct original *original);

#endif
