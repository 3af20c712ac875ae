/* SPDX-License-Identifier: MIT */
/* Runs by name: what RUN means on a command line, and which runs an experiment has.
 * Nothing is changed in any of them. */
#ifndef HOST_COMMANDS_RUNS_H
#define HOST_COMMANDS_RUNS_H

#include <stdbool.h>

#include "base/error.h"

/* RUN is a directory, or a name under runs/ ("latest" too). *path is the caller's.
 * Returns 0, or the exit status with its reason in *err. */
int runs_path(const char *word, char **path, struct error *err);
/* The path of a run, as runs_path finds it, if `word` means one; the caller's. A file
 * of that name goes first. NULL: it means no run. */
char *runs_named(const char *word);
/* Does the directory hold one that can be resumed? */
bool runs_is_run(const char *directory);
/* The run that a file lies in, perhaps as a checkpoint; the caller's. NULL: none. */
char *runs_of(const char *file);
/* Is a process at it? */
bool runs_is_busy(const char *run);
/* The newest run under runs/ that was made of this experiment file as it is now, that
 * nobody is at, and that neither was completed nor stopped by its own rule; the
 * caller's. NULL: none. */
char *runs_find_unfinished(const char *experiment);

#endif
