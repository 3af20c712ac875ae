/* SPDX-License-Identifier: MIT */
#include "session_calls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "guard.h"

_Static_assert(FUNCTION_COUNT <= PLUGIN_TIMED_MAX, "a place for every function");
_Static_assert(FUNCTION_COUNT <= RING_FUNCTIONS, "a name for every function");

const char *session_function_name(int function) {
    static const char *const names[] = {"read",     "order", "forward", "backward",
                                        "begin",    "step",  "factor",  "observe",
                                        "save",     "load",  "open",    "create",
                                        "describe", "bind",  "slots",   "destroy"};
    return function < POINT_COUNT ? session_point_name((enum point)function)
                                  : names[function - POINT_COUNT];
}

/* ---- the ring ---- */

lathe_status session_begin_calls(lathe_session *s) {
    const char *names[FUNCTION_COUNT];
    for (int i = 0; i < FUNCTION_COUNT; i++) names[i] = session_function_name(i);
    s->ring = ring_create(names, FUNCTION_COUNT);
    if (!s->ring) return fail(&s->err, LATHE_ENOMEM, "no memory for a session");
    if (s->options.trace) s->heed |= HEED_TRACE;
    return LATHE_OK;
}

void session_keep_ring(lathe_session *s) {
    const char *directory = rundir_path(s->rundir);
    s->ring_path = directory ? text_make("%s/" RING_FILE, directory) : NULL;
    if (s->ring_path && ring_move(s->ring, s->ring_path)) return;
    free(s->ring_path);
    s->ring_path = NULL;
}

void session_end_calls(lathe_session *s) {
    if (s->ring_path) unlink(s->ring_path);
    free(s->ring_path);
    free(s->since);
    free(s->starting);
    ring_destroy(s->ring);
    text_finish(&s->trace);
}

void session_finish_plugin(lathe_session *s, struct plugin *plugin) {
    if (!plugin->use) return;
    session_enter(s, 0, plugin, FUNCTION_DESTROY);
    plugin_finish(plugin);
    session_leave(s, 0, plugin, FUNCTION_DESTROY);
}

/* ---- the trace ---- */

/* callbacks.progress       step_end             epoch=1 step=20 */
static void begin_line(lathe_session *s, const char *who, const char *function) {
    text_clear(&s->trace);
    text_format(&s->trace, "%-24s %-20s epoch=%lld step=%lld", who, function,
                (long long)s->now.epoch, (long long)s->now.step);
    if (s->visiting != SPLIT_TRAIN)
        text_format(&s->trace, " split=%s", split_names[s->visiting]);
}

static void end_line(lathe_session *s) {
    if (!s->trace.is_broken) s->options.trace(s->options.context, s->trace.data);
}

static bool is_of_micro(int function) {
    return (function >= POINT_BATCH_BEGIN && function <= POINT_BATCH_END) ||
           function == POINT_VALIDATION_BATCH_END ||
           (function >= FUNCTION_READ && function <= FUNCTION_BACKWARD);
}

/* Micro-batches are counted from 0: of the window, or of the visit. */
static void add_micro(lathe_session *s) {
    const int64_t micro = s->visiting == SPLIT_TRAIN
                              ? s->now.micro
                              : s->batch.position / s->experiment->train.batch;
    text_format(&s->trace, " micro=%lld", (long long)micro);
}

void session_trace_call(lathe_session *s, const struct plugin *plugin, int function) {
    if (!(s->heed & HEED_TRACE)) return;
    begin_line(s, plugin->use->path, session_function_name(function));
    if (is_of_micro(function)) add_micro(s);
    if (function == POINT_RUN_BEGIN && s->now.resumed)
        text_format(&s->trace, " resumed=%u", s->now.resumed);
    if (function == POINT_RUN_END) text_format(&s->trace, " reason=%s", s->now.reason);
    if (function == FUNCTION_BEGIN || function == FUNCTION_STEP)
        text_format(&s->trace, " update=%lld", (long long)s->updates + 1);
    end_line(s);
}

void session_trace_slices(lathe_session *s, const struct plugin *plugin, int function) {
    if (!(s->heed & HEED_TRACE)) return;
    for (int64_t i = 0; i < s->shard_count; i++) {
        if (!s->shards[i].batch.rows) continue;
        begin_line(s, plugin->use->path, session_function_name(function));
        add_micro(s);
        text_format(&s->trace, " shard=%lld rows=%lld", (long long)i,
                    (long long)s->shards[i].batch.rows);
        end_line(s);
    }
}

void session_trace_act(lathe_session *s, const char *act, const char *name,
                       double number) {
    if (!(s->heed & HEED_TRACE)) return;
    begin_line(s, "host", act);
    if (name) {
        text_format(&s->trace, " %s=", name);
        text_json_shortest(&s->trace, number);
    }
    end_line(s);
}

/* ---- those who asked ---- */

#define PLACES ((size_t)RING_WORKERS * RING_DEPTH)

/* The call's place in lists of PLACES; -1: none is left, so deep it is. */
static int place_of(const lathe_session *s, int worker) {
    uint32_t depth = s->ring->workers[worker].depth; /* the worker's own */
    if (depth < 1 || depth > RING_DEPTH) return -1;
    return worker * RING_DEPTH + (int)depth - 1;
}

bool session_keep_times(lathe_session *s) {
    if (!s->since) s->since = calloc(PLACES, sizeof *s->since);
    if (s->since) s->heed |= HEED_CLOCK;
    return s->since != NULL;
}

void session_watch_threads(lathe_session *s) {
    if (!s->starting) s->starting = calloc(PLACES, sizeof *s->starting);
    if (s->starting) s->heed |= HEED_THREADS;
}

void session_ignore_threads(lathe_session *s) {
    s->heed &= ~HEED_THREADS;
}

static void tell_threads(lathe_session *s, const struct plugin *plugin, int function,
                         const struct guard_threads *threads) {
    const int more = guard_threads_end(threads);
    if (more > 0 && !__atomic_exchange_n(&s->has_told_threads, true, __ATOMIC_RELAXED))
        log_line(&s->log, LATHE_LOG_WARNING,
                 "%s started %d threads of its own in %s: they compete with the host's",
                 plugin->label, more, session_function_name(function));
}

/* What a pass calls is traced before it: workers are in no order. */
bool session_heed_enter(lathe_session *s, int worker, struct plugin *plugin,
                        int function) {
    if (s->phase == PHASE_LOOP) session_trace_call(s, plugin, function);
    if (session_is_dry(s)) return false;
    const int place = place_of(s, worker);
    if (place < 0) return true;
    if (s->heed & HEED_THREADS) guard_threads_begin(&s->starting[place]);
    if (s->heed & HEED_CLOCK && s->phase != PHASE_LOAD)
        s->since[place] = clock_nanoseconds();
    return true;
}

void session_heed_leave(lathe_session *s, int worker, struct plugin *plugin,
                        int function) {
    const int place = session_is_dry(s) ? -1 : place_of(s, worker);
    if (place < 0) return;
    if (s->heed & HEED_CLOCK && s->since[place]) { /* else it began before that */
        int64_t spent = clock_nanoseconds() - s->since[place];
        s->since[place] = 0;
        plugin_add_time(plugin, function, spent);
    }
    if (s->heed & HEED_THREADS) tell_threads(s, plugin, function, &s->starting[place]);
}
