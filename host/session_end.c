/* SPDX-License-Identifier: MIT */
/* How a run ends: by which reason, with the test data visited, judged, told to
 * everybody once. */
#include "session_state.h"

static const char *reason_of(lathe_session *s, lathe_status status) {
    const char *asked = atomic_load(&s->stop_asked);
    if (status == LATHE_EGATE) return "nonfinite";
    if (status < 0) return "failed";
    if (asked) return asked;
    return s->requests & LATHE_REQUEST_STOP ? "stopped" : "completed";
}

/* What was trained since the last record is not lost, and train/… are the last
 * epoch's. */
static lathe_status close_training(lathe_session *s) {
    lathe_status status = LATHE_OK;
    if (s->recorded_step != s->now.step || s->now.loss != s->now.loss)
        status = session_record(s, SPLIT_TRAIN);
    metrics_settle_epoch(s->metrics, s->now.step);
    return status;
}

/* Completed or stopped: the test data is visited once, and the expectations are
 * judged. */
static lathe_status end_well(lathe_session *s) {
    lathe_status status = close_training(s);
    if (status == LATHE_OK && s->data[SPLIT_TEST].is_used &&
        !atomic_load(&s->stop_asked))
        status = session_visit(s, SPLIT_TEST);
    const char *asked = atomic_load(&s->stop_asked);
    if (asked) s->reason = asked;
    if (status == LATHE_OK && !asked) return session_judge(s);
    if (status < 0) s->reason = "failed";
    return status;
}

static lathe_status end_training(lathe_session *s, lathe_status status) {
    if (status == LATHE_OK) return end_well(s);
    if (status == LATHE_EGATE) { /* the record shows what was not finite */
        struct error kept = s->err;
        close_training(s);
        s->err = kept;
    }
    return status;
}

lathe_status lathe_run_end(lathe_session *s, lathe_status status) {
    if (s->is_ended) return fail(&s->err, LATHE_EINVAL, "the run has ended before");
    s->is_ended = true;
    if (status > 0) status = LATHE_OK;
    s->reason = reason_of(s, status);
    status = end_training(s, status);
    s->now.reason = s->reason;
    lathe_status last = session_fire_end(s);
    if (status == LATHE_OK && last != LATHE_OK) s->reason = "failed";
    if (status == LATHE_OK) status = last;
    return session_end_records(s, status);
}
