/* SPDX-License-Identifier: MIT */
/* Training, piece by piece: from the beginning of the run to the gradients of a
 * micro-batch. session_update.c goes on from there. */
#include "base/clock.h"
#include "session_calls.h"

lathe_status session_allow(lathe_session *s, unsigned places, const char *function) {
    workers_adopt();
    if (s->place & places) return LATHE_OK;
    fail(&s->err, LATHE_EINVAL, "%s is called out of its order", function);
    error_help(&s->err,
               "the order is that of lathe/session.h, from lathe_run_begin on");
    return LATHE_EINVAL;
}

lathe_status lathe_run_begin(lathe_session *s) {
    lathe_status status = session_allow(s, PLACE_OPEN, "lathe_run_begin");
    if (status != LATHE_OK) return status;
    s->place = PLACE_RUN;
    s->began = clock_seconds();
    s->phase = PHASE_LOOP;
    session_watch_threads(s);
    status = session_fire(s, POINT_RUN_BEGIN);
    if (status == LATHE_OK) s->rest.kind = REST_HERE;
    return status;
}

static void take_epoch(lathe_session *s) {
    order_init(&s->order, session_key(s, NULL, PURPOSE_ORDER, s->now.epoch),
               s->data[SPLIT_TRAIN].samples);
    s->model_key = session_key(s, &s->experiment->model, PURPOSE_MODEL, s->now.epoch);
    s->place = PLACE_EPOCH;
}

lathe_status lathe_epoch_begin(lathe_session *s) {
    lathe_status status =
        session_allow(s, PLACE_RUN | PLACE_EPOCH, "lathe_epoch_begin");
    if (status != LATHE_OK) return status;
    s->place = PLACE_RUN;
    if (s->resumes_in_epoch) {
        s->resumes_in_epoch = false;
        take_epoch(s);
        return LATHE_OK;
    }
    if (session_is_over(s)) return LATHE_END;
    s->now.epoch++;
    s->micro = 0;
    s->is_epoch_done = s->is_saved = false;
    metrics_restart(s->metrics, SPLIT_TRAIN);
    take_epoch(s);
    s->rest.kind = REST_NONE;
    status = session_fire(s, POINT_EPOCH_BEGIN);
    if (status == LATHE_OK) s->rest.kind = REST_HERE;
    return status;
}

lathe_status lathe_step_begin(lathe_session *s) {
    lathe_status status = session_allow(s, PLACE_EPOCH, "lathe_step_begin");
    if (status != LATHE_OK) return status;
    if (s->resumes_after_update) {
        s->resumes_after_update = false;
        s->place = PLACE_UPDATED;
        return LATHE_OK;
    }
    if (s->micro >= s->sampler.micros_per_epoch || session_is_over(s)) return LATHE_END;
    if (s->checkpoints && s->snapshot)
        status = checkpoints_poll(s->checkpoints, &s->err);
    if (status == LATHE_OK) status = session_mark(s, REST_BACK);
    if (status != LATHE_OK) return status;
    s->window_left = sampler_window(&s->sampler, s->micro / s->sampler.accumulate);
    lathe_discard(s);
    session_begin_window(s);
    s->place = PLACE_WINDOW;
    return session_fire(s, POINT_STEP_BEGIN);
}

/* What is asked for while data is read, which may take long, ends the window there;
 * otherwise a window that has begun becomes a step. */
lathe_status lathe_batch_begin(lathe_session *s) {
    lathe_status status =
        session_allow(s, PLACE_WINDOW | PLACE_UPDATED, "lathe_batch_begin");
    if (status != LATHE_OK) return status;
    if (!s->window_left || s->place == PLACE_UPDATED) return LATHE_END;
    const char *asked = atomic_load(&s->stop_asked);
    s->now.micro = s->micro % s->sampler.accumulate;
    status = session_read_next(s);
    if (status != LATHE_OK) return status;
    if (!asked && atomic_load(&s->stop_asked)) return LATHE_STOP;
    s->place = PLACE_READ;
    s->now.batch = &s->batch;
    return session_fire(s, POINT_BATCH_BEGIN);
}

lathe_status lathe_forward(lathe_session *s) {
    lathe_status status = session_allow(s, PLACE_READ, "lathe_forward");
    if (status != LATHE_OK) return status;
    s->place = PLACE_FORWARD;
    status = session_forward(s, LATHE_TRAIN, s->weights, SPLIT_TRAIN, &s->window);
    if (status != LATHE_OK) return status;
    s->now.outputs = s->wants_outputs ? s->output_tensors : NULL;
    return session_fire(s, POINT_LOSS_READY);
}

lathe_status lathe_backward(lathe_session *s) {
    lathe_status status = session_allow(s, PLACE_FORWARD, "lathe_backward");
    if (status == LATHE_OK) status = session_backward(s);
    if (status != LATHE_OK) return status;
    s->place = PLACE_WINDOW;
    s->micro++;
    s->window_left--;
    s->now.samples += s->batch.rows;
    status = session_fire(s, POINT_BATCH_END);
    s->now.batch = NULL;
    s->now.outputs = NULL;
    return status;
}

void lathe_discard(lathe_session *s) {
    s->window = (struct sums){0};
    s->gradients = NULL;
    for (int64_t i = 0; i < s->shard_count; i++) s->shards[i].has_gradients = false;
}

lathe_status lathe_epoch_end(lathe_session *s) {
    lathe_status status = session_allow(s, PLACE_EPOCH, "lathe_epoch_end");
    if (status != LATHE_OK) return status;
    if (s->rest.kind == REST_VISIT) return LATHE_STOP; /* the visit is still to come */
    s->is_epoch_done = s->is_saved = false;
    s->rest.kind = REST_NONE;
    status = session_fire(s, POINT_EPOCH_END);
    if (status == LATHE_OK) s->rest.kind = REST_HERE;
    return status;
}

int32_t lathe_is_due(const lathe_session *s, uint32_t what) {
    if (what == LATHE_DUE_EPOCH_END) return s->is_epoch_done;
    if (what == LATHE_DUE_CHECKPOINT)
        return ((s->requests | atomic_load(&s->requests_asked)) & LATHE_REQUEST_SAVE) !=
               0;
    if (what != LATHE_DUE_VALIDATION || !s->data[SPLIT_VALIDATION].is_used) return 0;
    return s->validate_due.is_due || s->requests & LATHE_REQUEST_VALIDATE;
}
