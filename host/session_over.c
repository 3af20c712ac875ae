/* SPDX-License-Identifier: MIT */
/* What a run that is over, or past a bound that it is to have now, may not be changed
 * to: nothing would be trained any more, and its records would tell of another run. */
#include <stdlib.h>
#include <string.h>

#include "session_state.h"

/* How far a checkpoint is, before anything of it is put in place. */
struct standing {
    int64_t step, epoch;
    int64_t steps, windows; /* of the present stage */
    double seconds;
    bool is_stopped;
};

static struct standing read_standing(const lathe_session *s, const struct json *loop) {
    const int64_t step = json_whole(json_get(loop, "step"));
    const int64_t windows = step + json_whole(json_get(loop, "skipped"));
    return (struct standing){
        .step = step,
        .epoch = json_whole(json_get(loop, "epoch")),
        .steps = step - json_whole(json_get(loop, "stage_step")),
        .windows = windows - json_whole(json_get(loop, "stage_windows")),
        .seconds = json_exact(json_get(loop, "seconds")) -
                   json_exact(json_get(loop, "stage_seconds")),
        .is_stopped =
            json_kind(json_get(loop, "stop")) == JSON_TEXT && !s->forgets_stop};
}

/* Is a bound of the present stage met, or, with is_past, more than that? */
static bool is_there(const lathe_session *s, const struct standing *at, bool is_past) {
    const struct durations *until = &s->experiment->train.until;
    for (int i = 0; i < until->count; i++) {
        const struct duration *bound = &until->items[i];
        const bool is_time = bound->unit == DURATION_SECONDS;
        const double most = is_time ? bound->amount : (double)session_steps(s, bound);
        const double gone = is_time                         ? at->seconds
                            : bound->unit == DURATION_STEPS ? (double)at->steps
                                                            : (double)at->windows;
        if (is_past ? gone > most : gone >= most) return true;
    }
    return false;
}

/* Of the present stage. */
static const struct json *until_of(const lathe_session *s, const struct json *whole) {
    const struct json *stages = json_get(whole, "stages");
    if (s->now.stage > 1) whole = json_at(stages, (size_t)s->now.stage - 1);
    return json_get(json_get(whole, "train"), "until");
}

const char *session_until_path(const lathe_session *s, char path[UNTIL_PATH]) {
    snprintf(path, UNTIL_PATH, "train.until");
    if (s->now.stage > 1)
        snprintf(path, UNTIL_PATH, "stages.%lld.train.until",
                 (long long)s->now.stage - 1);
    return path;
}

static lathe_status refuse_bound(lathe_session *s, const struct standing *at,
                                 const struct json *until) {
    char path[UNTIL_PATH];
    struct text text = {0};
    json_write(until, &text, 0);
    session_until_path(s, path);
    fail(&s->err, LATHE_EINVAL,
         "the run stands at step %lld, in epoch %lld: past %s %s", (long long)at->step,
         (long long)at->epoch, path, text.is_broken ? "" : text.data);
    error_where(&s->err, "%s", rundir_path(s->rundir));
    error_help(&s->err,
               "leave it as it was (lathe resume %s), or say a later %s, and it goes "
               "further",
               s->options.resume, path);
    text_finish(&text);
    return LATHE_EINVAL;
}

static lathe_status refuse_change(lathe_session *s, const struct standing *at,
                                  const char *change) {
    char path[UNTIL_PATH];
    fail(&s->err, LATHE_EINVAL,
         "the run is over, %s after step %lld, and was not trained so: %s",
         at->is_stopped ? "stopped" : "completed", (long long)at->step, change);
    error_where(&s->err, "%s", rundir_path(s->rundir));
    error_help(&s->err,
               "leave it as it was, or have it train on: %s%s; or begin another run: "
               "lathe run --from %s",
               at->is_stopped ? "with other callbacks" : "with a later ",
               at->is_stopped ? "" : session_until_path(s, path), s->options.resume);
    return LATHE_EINVAL;
}

lathe_status session_check_over(lathe_session *s, const struct json *now,
                                const char *change) {
    struct json *loop = NULL;
    const struct json *before = until_of(s, s->before), *until = until_of(s, now);
    const bool is_last = s->now.stage > (int64_t)s->experiments->stage_count;
    if (!s->options.resume || !s->origin) return LATHE_OK;
    lathe_status status = session_read_note(s, NOTE_LOOP, &loop);
    if (status != LATHE_OK) return status;
    const struct standing at = read_standing(s, loop);
    const bool is_same = before && until ? json_same(before, until) : before == until;
    if (!is_same && is_there(s, &at, true))
        status = refuse_bound(s, &at, until);
    else if (change && (at.is_stopped || (is_last && is_there(s, &at, false))))
        status = refuse_change(s, &at, change);
    json_close(loop);
    return status;
}
