/* SPDX-License-Identifier: MIT */
/* Whole runs of a small experiment, for callbacks: on the embedding API, as anybody
 * runs one. */
#ifndef HOST_CHECK_SMALL_RUN_H
#define HOST_CHECK_SMALL_RUN_H

#include "check/fixture.h"

/* How a run is to go. */
struct script {
    struct setup setup;
    const char *directory;   /* the run's own; NULL: none */
    const char *resume;      /* goes on with that one */
    int64_t stop_at;         /* the call before which it is told to stop; 0: never */
    const char *stop_reason; /* "interrupted" */
    bool expects_failure;    /* of another plugin */
};

struct small_run {
    struct check *check;
    const struct script *script;
    struct fixture *fixture; /* whose pauses it makes; may be NULL */
    lathe_session *session;
    lathe_error error;
    int64_t calls;
    char stopped[96]; /* the call before which it was told to stop */
    char call[96];    /* the one that is being made, since … */
    double since;
    struct text records;
};

/* Opens; the check fails when it cannot be. For small_run_close either way. */
bool small_run_open(struct small_run *run, struct check *check,
                    const struct script *script);
/* Turns it to its end; the check fails when the subject, or anything unforeseen,
 * does. */
bool small_run_run(struct small_run *run);
/* Is the failure one that the script wanted? Else it fails the check. */
bool small_run_went_well(struct small_run *run, lathe_status status);
void small_run_close(struct small_run *run);
/* Opens, runs, closes; `calls` and `stopped` may be NULL. */
bool small_run_once(struct check *check, const struct script *script, int64_t *calls,
                    char stopped[96]);
/* What the subject saves at the end of a run. */
bool small_run_state(struct check *check, struct text *bytes);
/* A run of a few epochs, with validation and test data. */
struct script small_run_script(const struct check *check);

#endif
