/* SPDX-License-Identifier: MIT */
/* Every call of a plugin that a session makes goes through here: noted in the ring,
 * timed where somebody profiles, traced where somebody asked, left out in a dry run.
 *
 *     if (session_enter(s, worker, plugin, FUNCTION_STEP)) status = ops->step(…);
 *     session_leave(s, worker, plugin, FUNCTION_STEP);
 *
 * Where nobody asked for anything it is a few stores. */
#ifndef HOST_SESSION_CALLS_H
#define HOST_SESSION_CALLS_H

#include "ring.h"
#include "session_state.h"

/* The points of enum point, and these. */
enum function {
    FUNCTION_READ = POINT_COUNT,
    FUNCTION_ORDER,
    FUNCTION_FORWARD,
    FUNCTION_BACKWARD,
    FUNCTION_BEGIN,
    FUNCTION_STEP,
    FUNCTION_FACTOR,
    FUNCTION_OBSERVE,
    FUNCTION_SAVE,
    FUNCTION_LOAD,
    FUNCTION_OPEN,
    FUNCTION_CREATE,
    FUNCTION_DESCRIBE,
    FUNCTION_BIND,
    FUNCTION_SLOTS,
    FUNCTION_DESTROY,
    FUNCTION_COUNT
};

/* s->heed */
#define HEED_CLOCK 1u /* somebody profiles */
#define HEED_TRACE 2u /* options.trace */
#define HEED_DRY 4u   /* calls are left out, as if they had returned LATHE_OK */

#define HEED_THREADS 8u /* threads that a call starts are told */

/* The slow halves of the next two. */
bool session_heed_enter(lathe_session *s, int worker, struct plugin *plugin,
                        int function);
void session_heed_leave(lathe_session *s, int worker, struct plugin *plugin,
                        int function);

/* Before a call, on a worker (the loop's thread is worker 0); false: leave it out.
 * `function` is a point or one of enum function. [any] */
static inline bool session_enter(lathe_session *s, int worker, struct plugin *plugin,
                                 int function) {
    ring_enter(s->ring,
               ring_call(s->now.epoch, s->now.step, plugin->number, function, worker),
               s->phase != PHASE_PASS && !s->ahead);
    return !s->heed || session_heed_enter(s, worker, plugin, function);
}

/* After it, and also where it was left out. [any] */
static inline void session_leave(lathe_session *s, int worker, struct plugin *plugin,
                                 int function) {
    if (s->heed) session_heed_leave(s, worker, plugin, function);
    ring_leave(s->ring, worker);
}

static inline bool session_is_dry(const lathe_session *s) {
    return (s->heed & HEED_DRY) != 0;
}

const char *session_function_name(int function);
/* Before anything else of a session. */
lathe_status session_begin_calls(lathe_session *s);
/* The ring into the run's directory, if there is one and it can be; last of all that
 * may fail. */
void session_keep_ring(lathe_session *s);
void session_end_calls(lathe_session *s);
/* From the beginning of a run to its first step: a plugin that brings its own threads
 * is named, once. */
void session_watch_threads(lathe_session *s);
void session_ignore_threads(lathe_session *s);
/* Destroys it; it may not have been made. */
void session_finish_plugin(lathe_session *s, struct plugin *plugin);

/* Traces a pass that is to come, in the order of the shards whatever the threads: one
 * line for each slice that has rows. */
void session_trace_slices(lathe_session *s, const struct plugin *plugin, int function);
/* Traces a call that a pass is to make in pieces. */
void session_trace_call(lathe_session *s, const struct plugin *plugin, int function);
/* Traces what the host itself does: "reduce", and "weight" 128 (NULL: no number). */
void session_trace_act(lathe_session *s, const char *act, const char *name,
                       double number);

/* The table of LATHE_PROFILE; from now on the session is profiled. NULL: no memory. */
const void *session_profile(lathe_session *s);
bool session_keep_times(lathe_session *s);

#endif
