/* SPDX-License-Identifier: MIT */
/* Training, piece by piece: from the beginning of the run to the gradients of a
 * micro-batch. session_update.c goes on from there. */
#include "base/clock.h"
#include "session_state.h"

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
    return session_fire(s, POINT_RUN_BEGIN);
}

lathe_status lathe_epoch_begin(lathe_session *s) {
    lathe_status status =
        session_allow(s, PLACE_RUN | PLACE_EPOCH, "lathe_epoch_begin");
    if (status != LATHE_OK) return status;
    s->place = PLACE_RUN;
    if (session_is_over(s)) return LATHE_END;
    s->now.epoch++;
    s->micro = 0;
    s->is_epoch_done = false;
    metrics_restart(s->metrics, SPLIT_TRAIN);
    order_init(&s->order, session_key(s, NULL, PURPOSE_ORDER, s->now.epoch),
               s->data[SPLIT_TRAIN].samples);
    s->model_key = session_key(s, &s->experiment->model, PURPOSE_MODEL, s->now.epoch);
    s->place = PLACE_EPOCH;
    return session_fire(s, POINT_EPOCH_BEGIN);
}

lathe_status lathe_step_begin(lathe_session *s) {
    lathe_status status = session_allow(s, PLACE_EPOCH, "lathe_step_begin");
    if (status != LATHE_OK) return status;
    if (s->micro >= s->sampler.micros_per_epoch || session_is_over(s)) return LATHE_END;
    s->window_left = sampler_window(&s->sampler, s->micro / s->sampler.accumulate);
    lathe_discard(s);
    s->samples_before = s->now.samples;
    s->place = PLACE_WINDOW;
    return session_fire(s, POINT_STEP_BEGIN);
}

lathe_status lathe_batch_begin(lathe_session *s) {
    lathe_status status = session_allow(s, PLACE_WINDOW, "lathe_batch_begin");
    if (status != LATHE_OK) return status;
    if (!s->window_left) return LATHE_END;
    s->now.micro = s->micro % s->sampler.accumulate;
    status =
        session_read(s, &s->data[SPLIT_TRAIN], &s->order, s->now.epoch,
                     s->micro * s->sampler.batch, sampler_rows(&s->sampler, s->micro));
    if (status != LATHE_OK) return status;
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
    s->now.weight = s->window.weight;
    s->now.loss = s->window.weight != 0 ? s->window.loss / s->window.weight : 0;
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
    s->is_epoch_done = false;
    return session_fire(s, POINT_EPOCH_END);
}

int32_t lathe_is_due(const lathe_session *s, uint32_t what) {
    if (what == LATHE_DUE_EPOCH_END) return s->is_epoch_done;
    if (what != LATHE_DUE_VALIDATION || !s->data[SPLIT_VALIDATION].is_used) return 0;
    return s->validate_due.is_due || s->requests & LATHE_REQUEST_VALIDATE;
}
