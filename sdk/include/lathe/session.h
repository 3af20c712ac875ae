/* SPDX-License-Identifier: MIT */
/* Embedding: the functions that liblathe exports. A session composes one run from an
 * experiment and takes it step by step; the built-in loop is written on these functions
 * and nothing else, so a loop of your own can take its place.
 *
 * The library never exits, aborts, installs a signal handler, or changes the
 * environment. Sessions are independent: any number in one process, each used by one
 * thread at a time. Functions return LATHE_OK, LATHE_END ("no more of these") or a
 * failure, whose text is in lathe_last_error until the next call. All are [loop] but
 * where tagged. */
#ifndef LATHE_SESSION_H
#define LATHE_SESSION_H

#include "callback.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lathe_session lathe_session;

/* Why something failed, in memory of the caller's; each text is one line, "" for
 * none. */
typedef struct lathe_error {
    uint32_t size;
    lathe_status status;
    char what[512];  /* 'unknown option "lrr"' */
    char where[384]; /* "manifests/fashion-mlp.json: optimizer.lrr" */
    char help[384];  /* 'did you mean "lr"?' */
} lathe_error;

#define LATHE_QUIET 1u             /* callbacks that draw keep quiet */
#define LATHE_ALLOW_CHANGE 2u      /* resume, from: also what changes numbers */
#define LATHE_RUN_DEFAULT "runs/*" /* runs/<name>-<UTC time>-<4 hex> */

/* A plugin that is linked in instead of found in a folder. */
typedef struct lathe_linked_plugin {
    uint32_t size, reserved;
    const lathe_plugin *plugin;
    const char *manifest; /* JSON text: plugin.json without "library" */
} lathe_linked_plugin;

typedef struct lathe_session_options {
    uint32_t size, flags;            /* LATHE_QUIET */
    const char *experiment;          /* path, or JSON text that starts with '{' */
    const char *const *overrides;    /* "optimizer.lr=0.01"; NULL-ended or NULL */
    const char *const *plugin_paths; /* directories; NULL-ended or NULL */
    const lathe_linked_plugin *const *linked; /* NULL-ended or NULL */
    /* Absent or empty; LATHE_RUN_DEFAULT; NULL: write nothing. */
    const char *run_directory;
    /* Gets every line of the log, without a newline; NULL: none. Level: LATHE_LOG_*.
     * [any] */
    void (*log)(void *context, int32_t level, const char *text);
    /* Gets every metrics record and last the end record (README of manifests), one line
     * of JSON without a newline; NULL: none. */
    void (*record)(void *context, const char *json);
    void *context;
    /* A run directory to go on with, from its newest whole checkpoint, or from step 0
     * where there is none; run_directory is NULL then. `experiment` NULL: the run's
     * own. What is different in the experiment is refused unless it leaves all numbers
     * as they were (callbacks, threads, paths, `until` without a horizon), or
     * LATHE_ALLOW_CHANGE is set. */
    const char *resume;
    /* A checkpoint whose state a new run begins from, or a run's directory: its newest
     * whole one; `experiment` as for resume. */
    const char *from;
    /* Gets every call of a plugin that the loop makes, and the host's own acts between
     * them, one line each without a newline, in an order that does not depend on
     * threads (README of manifests); NULL: none. */
    void (*trace)(void *context, const char *line);
    /* Asked before a library is loaded that this machine has not loaded before: loads
     * it elsewhere, in a process that may crash, hang or exit. LATHE_OK: it loads;
     * LATHE_END: nobody could tell; a failure, with why in *error: the library is
     * refused. LATHE_OK and LATHE_EPLUGIN are remembered in the user's cache, by the
     * library's digest, and it is not asked again. NULL: libraries are loaded at once,
     * but for those that are remembered as refused. */
    lathe_status (*try_library)(void *context, const char *library, lathe_error *error);
} lathe_session_options;
#define LATHE_SESSION_OPTIONS_SIZE_1_0 96u

#define LATHE_DUE_VALIDATION 1u
#define LATHE_DUE_EPOCH_END 2u
#define LATHE_DUE_CHECKPOINT 4u

/* ---- whole runs ---- */

/* Reads, checks and composes the experiment: everything that can fail before step 0
 * does so here. *session is the caller's, for lathe_close, and set from the start, so
 * that lathe_stop can be called on it meanwhile: then this returns LATHE_STOP after the
 * plugin or file in hand. Unless it returns LATHE_OK, *session is NULL again, *error
 * says why (it may be NULL) and nothing is left behind. The texts of the options are
 * copied; `context` and what is linked are needed until lathe_close. [load] */
LATHE_EXPORT lathe_status lathe_open(const lathe_session_options *options,
                                     lathe_session **session, lathe_error *error);
/* Ends what lathe_open made, in reverse order; NULL is fine. [load] */
LATHE_EXPORT void lathe_close(lathe_session *session);
/* Turns the loop to its end, as loop.c of the templates has it. LATHE_OK: completed or
 * stopped, and every `expect` met; lathe_reason tells which. */
LATHE_EXPORT lathe_status lathe_run(lathe_session *session);
/* Asks the loop to end at the next boundary; `reason` is "interrupted" or "preempted",
 * in static memory. Safe in a signal handler. [any] */
LATHE_EXPORT void lathe_stop(lathe_session *session, const char *reason);
/* Asks for LATHE_REQUEST_* at the next boundary. Safe in a signal handler. [any] */
LATHE_EXPORT void lathe_request(lathe_session *session, uint32_t what);
/* The last failure; borrowed until the next call on the session. */
LATHE_EXPORT const lathe_error *lathe_last_error(lathe_session *session);
/* Where the run is; borrowed, changes with every call. */
LATHE_EXPORT const lathe_moment *lathe_now(const lathe_session *session);
/* How the run ended: "completed", "stopped", "interrupted", "preempted", "nonfinite",
 * "failed"; NULL before lathe_run_end. Static memory. */
LATHE_EXPORT const char *lathe_reason(const lathe_session *session);

/* The checkpoint that the session was opened from; borrowed; NULL: none. */
LATHE_EXPORT const char *lathe_origin(const lathe_session *session);

/* ---- in place of a run: between lathe_open and lathe_close, no run in it ---- */

/* Visits a data set of the experiment, by its name in `data`, with the weights as they
 * are, or those that a callback's evaluate_with chooses: NULL is "test", or else
 * "validation". Callbacks see the validation points and no others. Its record goes to
 * options.record, and into no run. LATHE_EINVAL: there is no such data. LATHE_END:
 * lathe_stop was called. */
LATHE_EXPORT lathe_status lathe_evaluate(lathe_session *session, const char *split);

/* Some rows of what a model says, in the order of the data. Valid during the call. */
typedef struct lathe_prediction {
    uint32_t size, output_count;
    int64_t samples;     /* that the data set has */
    int64_t first, rows; /* these of them, counted from 0 */
    int64_t classes;     /* of the training data's "label"; 0: not a category */
    const lathe_field *const *fields; /* [output_count] */
    const lathe_tensor *outputs;      /* [output_count] of `rows` rows */
} lathe_prediction;
#define LATHE_PREDICTION_SIZE_1_0 56u

/* The model's outputs for a data set, chosen as above, a few rows at a time, with the
 * weights that lathe_evaluate would use; the data may lack labels. What `take` returns
 * other than LATHE_OK ends it and is returned. Of the callbacks' points it calls
 * validation_begin. */
LATHE_EXPORT lathe_status
lathe_predict(lathe_session *session, const char *split,
              lathe_status (*take)(void *context, const lathe_prediction *prediction),
              void *context);

/* ---- the loop, piece by piece; each fires its own callback points ---- */

LATHE_EXPORT lathe_status lathe_run_begin(lathe_session *session);
/* Goes to the next stage; an experiment without stages is one stage. Weights, blocks
 * and the state of callbacks are carried over; the rest is composed anew, so what was
 * borrowed of the session is gone, and callbacks see run_begin again, resumed.
 * LATHE_END after the last stage, or when a stop was asked for. May be left out where
 * there is one. */
LATHE_EXPORT lathe_status lathe_stage_begin(lathe_session *session);
/* LATHE_END when the stage's `until` is met or a stop was asked for. */
LATHE_EXPORT lathe_status lathe_epoch_begin(lathe_session *session);
/* LATHE_END when the epoch has no more windows, `until` is met or a stop was asked
 * for. */
LATHE_EXPORT lathe_status lathe_step_begin(lathe_session *session);
/* Reads the next micro-batch. LATHE_END when the window is full; LATHE_STOP: a stop was
 * asked for while it read. */
LATHE_EXPORT lathe_status lathe_batch_begin(lathe_session *session);
/* Loss of the micro-batch; then loss_ready. */
LATHE_EXPORT lathe_status lathe_forward(lathe_session *session);
/* Its gradients, added to the window's; then batch_end. */
LATHE_EXPORT lathe_status lathe_backward(lathe_session *session);
/* Sums shards, takes the norm; LATHE_EGATE when loss or norm is not finite; then
 * gradients_ready. */
LATHE_EXPORT lathe_status lathe_reduce(lathe_session *session);
/* Clips, updates, counts one step; then step_end and, when due, a train record. */
LATHE_EXPORT lathe_status lathe_update(lathe_session *session);
/* Is LATHE_DUE_* due at this step? 1 or 0. */
LATHE_EXPORT int32_t lathe_is_due(const lathe_session *session, uint32_t what);
/* One visit of the validation data, and its record. LATHE_STOP: a stop was asked for on
 * the way; the run goes on with this visit when it is resumed. */
LATHE_EXPORT lathe_status lathe_validate(lathe_session *session);
/* The epoch's last step is done and validated. */
LATHE_EXPORT lathe_status lathe_epoch_end(lathe_session *session);
/* Saves the state as it is between two steps: copies it, and writes it in the
 * background. Fails with what became of the one before (LATHE_EIO). Without a run
 * directory nothing is done. */
LATHE_EXPORT lathe_status lathe_save(lathe_session *session);
/* Ends the run whose last piece returned `status`: saves the last whole step, visits
 * the test data when completed or stopped, judges `expect`, calls run_end. Returns the
 * status of the whole run. Once. */
LATHE_EXPORT lathe_status lathe_run_end(lathe_session *session, lathe_status status);

/* ---- loops of another shape ---- */

/* Forgets the gradients of this window. */
LATHE_EXPORT void lathe_discard(lathe_session *session);
/* How many parameters, and the i-th; LATHE_END past the last one. */
LATHE_EXPORT int64_t lathe_parameters(const lathe_session *session);
LATHE_EXPORT lathe_status lathe_parameter_at(const lathe_session *session, int64_t i,
                                             lathe_parameter_view *view);
/* The block of weights, *count floats; LATHE_READ or LATHE_WRITE. Borrowed until
 * close. */
LATHE_EXPORT float *lathe_weights(lathe_session *session, uint32_t access,
                                  int64_t *count);
/* The block of gradients between lathe_reduce and lathe_update: the mean over the
 * window, not clipped; else NULL. */
LATHE_EXPORT float *lathe_gradients(lathe_session *session, uint32_t access,
                                    int64_t *count);
/* A metric by its full name: 1 and *value, or 0 when there is none yet. */
LATHE_EXPORT int32_t lathe_value(const lathe_session *session, const char *metric,
                                 double *value);

#ifdef __cplusplus
}
#endif
#endif
