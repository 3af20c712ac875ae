/* SPDX-License-Identifier: MIT */
/* A visit of a data set that is not trained on: each sample once, in order,
 * weighted. */
#include <math.h>
#include <string.h>

#include "session_calls.h"

static void clear_tallies(lathe_session *s) {
    for (int64_t i = 0; i < s->tally_count; i++)
        memset(s->tallies[i].numbers, 0,
               (size_t)s->tallies[i].count * sizeof *s->tallies[i].numbers);
}

static lathe_status visit_micro(lathe_session *s, enum split split, int64_t first,
                                struct sums *sums) {
    lathe_status status = session_read_visit(s, &s->data[split], first);
    if (status != LATHE_OK) return status;
    const float *weights = s->evaluated ? s->evaluated : s->weights;
    status = session_forward(s, LATHE_EVALUATE, weights, split, sums);
    if (status != LATHE_OK) return status;
    s->now.batch = &s->batch;
    s->now.outputs = s->wants_outputs ? s->output_tensors : NULL;
    status = session_fire(s, POINT_VALIDATION_BATCH_END);
    s->now.batch = NULL;
    s->now.outputs = NULL;
    return status;
}

/* LATHE_END: a stop was asked for on the way, and the visit is not whole. */
static lathe_status visit_all(lathe_session *s, enum split split) {
    struct sums sums = {0};
    lathe_status status = LATHE_OK;
    for (int64_t first = 0; status == LATHE_OK && first < s->data[split].samples;
         first += s->experiment->train.batch) {
        if (atomic_load(&s->stop_asked)) return LATHE_END;
        status = visit_micro(s, split, first, &sums);
    }
    return status;
}

/* A schedule that watches a metric is told when it is fresh. */
static lathe_status tell_schedule(lathe_session *s) {
    if (s->schedule_watch < 0) return LATHE_OK;
    lathe_metric_view view = {.size = sizeof view};
    metrics_view(s->metrics, s->schedule_watch, &view);
    if (view.step != s->now.step) return LATHE_OK;
    const lathe_schedule_ops *ops = s->schedule.ops;
    const lathe_progress progress = session_progress(s);
    if (session_enter(s, 0, &s->schedule, FUNCTION_OBSERVE))
        ops->observe(s->schedule.self, &progress, view.value);
    session_leave(s, 0, &s->schedule, FUNCTION_OBSERVE);
    if (s->schedule.misuse.status == LATHE_OK &&
        s->schedule.failures[0].status == LATHE_OK)
        return LATHE_OK;
    return session_plugin_failed(s, &s->schedule, LATHE_EPLUGIN, "observe");
}

/* LATHE_END: it was cut short. */
static lathe_status visit(lathe_session *s, enum split split) {
    metrics_restart(s->metrics, split);
    clear_tallies(s);
    session_trace_act(s, "visit", "samples", (double)s->data[split].samples);
    lathe_status status = session_fire(s, POINT_VALIDATION_BEGIN);
    if (status == LATHE_OK) status = visit_all(s, split);
    if (status != LATHE_OK) return status;
    metrics_settle(s->metrics, split, s->now.step);
    return session_fire(s, POINT_VALIDATION_END);
}

lathe_status session_visit_as(lathe_session *s, enum split split, const char *name) {
    lathe_moment before = s->now;
    s->visiting = split;
    s->now.split = name;
    lathe_status status = visit(s, split);
    s->evaluated = NULL;
    s->visiting = SPLIT_TRAIN;
    s->now.split = before.split;
    s->now.loss = before.loss;
    s->now.weight = before.weight;
    return status;
}

lathe_status session_visit(lathe_session *s, enum split split) {
    lathe_status status = session_visit_as(s, split, split_names[split]);
    s->is_visit_cut = status == LATHE_END;
    if (s->is_visit_cut) return LATHE_OK;
    if (status == LATHE_OK) status = session_record(s, split);
    if (status == LATHE_OK && split == SPLIT_VALIDATION) status = tell_schedule(s);
    return status;
}

lathe_status lathe_validate(lathe_session *s) {
    lathe_status status = session_allow(
        s, PLACE_RUN | PLACE_EPOCH | PLACE_WINDOW | PLACE_REDUCED, "lathe_validate");
    if (status != LATHE_OK) return status;
    const bool is_between = s->rest.kind == REST_HERE;
    s->validate_due.is_due = false;
    s->requests &= ~LATHE_REQUEST_VALIDATE;
    if (!s->data[SPLIT_VALIDATION].is_used)
        return fail(&s->err, LATHE_EINVAL, "there is no validation data");
    if (is_between) status = session_mark(s, REST_VISIT);
    if (status == LATHE_OK) status = session_visit(s, SPLIT_VALIDATION);
    if (status == LATHE_OK && s->is_visit_cut) return LATHE_STOP;
    if (status == LATHE_OK && is_between) s->rest.kind = REST_HERE;
    return status;
}
