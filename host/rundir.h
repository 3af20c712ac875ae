/* SPDX-License-Identifier: MIT */
/* The directory of one run, and everything the host writes into it. Without a directory
 * every call does nothing and succeeds. Nothing here says when something is written, or
 * what a record holds. While it is open the directory is locked (flock), so that two
 * runs never share one, and a reader can tell a run that died from one that goes on. */
#ifndef HOST_RUNDIR_H
#define HOST_RUNDIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "json.h"

struct rundir;

/* "runs/<name>-<UTC time>-<4 hex>" under the current directory, not there yet; the
 * caller's, NULL without memory. Letters of the name that make bad file names become
 * '-'. */
char *rundir_default_path(const char *name);
/* Makes the directory (absent, empty, or left by a process that was killed before its
 * run could be resumed; else LATHE_ECREATE), and a status.json in it that says running:
 * there is none without. path NULL: write nothing. */
lathe_status rundir_create(const char *path, struct rundir **rundir, struct error *err);
/* Opens the directory of a run that is to go on. LATHE_ENOTFOUND: it is none;
 * LATHE_ECREATE: another process is at it (a dead one keeps no lock); LATHE_EPERM: it
 * cannot be read or written to. */
lathe_status rundir_reopen(const char *path, struct rundir **rundir, struct error *err);
const char *rundir_path(const struct rundir *rundir); /* absolute; NULL: none */
/* Switches "latest" beside the directory to it, by rename; only where its parent is
 * "runs". Call it once nothing can be discarded any more. */
lathe_status rundir_link_latest(struct rundir *rundir, struct error *err);
/* A file of its own, written whole: "experiment.json", "resolved.json", … Unsynced, as
 * file_replace_unsynced: for a file that `resume` can do without. Each fsync takes 1 to
 * 10 ms of a run's start. */
typedef lathe_status rundir_writer(struct rundir *rundir, const char *name,
                                   const void *bytes, size_t count, struct error *err);
rundir_writer rundir_write, rundir_write_unsynced;
/* One line, without its newline, appended by one write to "metrics.jsonl", … A line
 * that does not fit on the disk is taken back. From any thread. */
lathe_status rundir_append(struct rundir *rundir, const char *name, const char *line,
                           struct error *err);

/* How long a file is; 0: it is not there. */
int64_t rundir_length(const struct rundir *rundir, const char *name);
/* Cuts a file back to what it was; one that is not there stays so. LATHE_EDATA: it is
 * shorter than that. */
lathe_status rundir_cut(struct rundir *rundir, const char *name, int64_t length,
                        struct error *err);
/* One that is not there is no failure, nor is one that stays. */
void rundir_remove(struct rundir *rundir, const char *name);
/* A descriptor of a file of its own, for fsync; the caller's; -1: it is not there. */
int rundir_descriptor(const struct rundir *rundir, const char *name);

/* status.json */
struct run_status {
    const char *state;  /* "running", "ended" */
    const char *reason; /* "completed", …; NULL while running */
    int exit_code;      /* null in the file while running */
    int64_t epoch, step;
};
/* Adds pid, boot id and the process's start time, by which a dead run can be told. A
 * status "running" need not survive a loss of power, and is written unsynced. The size
 * of the file never changes, so it can be overwritten on a full disk. */
lathe_status rundir_write_status(struct rundir *rundir, const struct run_status *status,
                                 struct error *err);
/* The same in a signal handler, of a directory by its descriptor: over the file that is
 * there. It takes no memory. */
void rundir_patch_status(int directory, const struct run_status *status);
/* One of the JSON files that a run left in its directory; *json is the caller's.
 * LATHE_ENOTFOUND: it is not there; LATHE_EDATA: it is damaged. */
lathe_status rundir_read_json(const char *run, const char *name, struct json **json,
                              struct error *err);
/* Removes what was made, where the run failed before step 0; close it still. A
 * directory that was opened again stays as it is. NULL is fine. */
void rundir_discard(struct rundir *rundir);
void rundir_close(struct rundir *rundir); /* NULL is fine */

#endif
