/* SPDX-License-Identifier: MIT */
/* How a run ends: by which reason, with the test data visited, judged, told to
 * everybody once. */
#include <math.h>
#include <string.h>

#include "session_state.h"

static bool is_asked(lathe_session *s, const char *reason) {
    const char *asked = atomic_load(&s->stop_asked);
    return asked && !strcmp(asked, reason);
}

static const char *reason_of(lathe_session *s, lathe_status status) {
    const char *asked = atomic_load(&s->stop_asked);
    if (status == LATHE_EGATE) return "nonfinite";
    if (status < 0) return "failed";
    if (asked) return asked;
    if (!(s->requests & LATHE_REQUEST_STOP) || session_is_complete(s)) {
        s->stop_reason[0] = 0; /* somebody wanted to stop where it ended anyway */
        return "completed";
    }
    return "stopped";
}

/* What was trained since the last record is not lost, and train/… are the last
 * epoch's. */
static lathe_status close_training(lathe_session *s, bool is_nonfinite) {
    lathe_status status = LATHE_OK;
    if (s->recorded_window != session_windows(s) || is_nonfinite)
        status = session_record(s, SPLIT_TRAIN);
    metrics_settle_epoch(s->metrics, s->now.step);
    return status;
}

/* A finite gradient can still make weights that are not: the optimizer's fault. */
static lathe_status check_weights(lathe_session *s) {
    for (int64_t i = 0; i < s->parameters.size; i++) {
        if (isfinite(s->weights[i])) continue;
        fail(&s->err, LATHE_EGATE, "the weights at the end are not finite");
        error_where(&s->err, "after step %lld", (long long)s->now.step);
        return LATHE_EGATE;
    }
    return LATHE_OK;
}

/* Completed or stopped: the test data is visited once, and the expectations are
 * judged. */
static lathe_status end_well(lathe_session *s) {
    lathe_status status = close_training(s, false);
    if (status == LATHE_OK) status = check_weights(s);
    if (status == LATHE_EGATE) s->reason = "nonfinite";
    if (status == LATHE_OK && s->data[SPLIT_TEST].is_used &&
        !atomic_load(&s->stop_asked))
        status = session_visit(s, SPLIT_TEST);
    const char *asked = atomic_load(&s->stop_asked);
    if (asked) s->reason = asked;
    if (status == LATHE_OK && !asked) return session_judge(s);
    if (status < 0 && status != LATHE_EGATE) s->reason = "failed";
    return status;
}

static lathe_status end_training(lathe_session *s, lathe_status status) {
    if (status == LATHE_OK) return end_well(s);
    if (status == LATHE_EGATE) { /* the record shows what was not finite */
        struct error kept = s->err;
        close_training(s, s->now.loss != s->now.loss);
        s->err = kept;
    }
    return status;
}

/* Before anything else is done, so that who goes on from it does that again: the last
 * record, the visit of the test data. What is the matter already stays so. */
static lathe_status save_last(lathe_session *s, lathe_status status) {
    struct error kept = s->err;
    const lathe_moment now = s->now;
    const int64_t skipped = s->skipped;
    lathe_status saved = session_save_last(s);
    if (status == LATHE_EGATE && s->checkpoints && s->rest.kind == REST_BACK) {
        s->now = now; /* what was not finite is still to be recorded */
        s->skipped = skipped;
        metrics_take_back(s->metrics);
    }
    if (saved == LATHE_OK) {
        s->err = kept;
        return status;
    }
    const char *last = checkpoints_last(s->checkpoints);
    log_line(&s->log, LATHE_LOG_ERROR, "the state could not be saved: %s%s%s",
             s->err.what,
             s->hides_directory ? ""
             : last             ? "; the newest that is: "
                                : "; there is no other",
             last && !s->hides_directory ? last : "");
    if (status != LATHE_OK) s->err = kept;
    return status != LATHE_OK ? status : saved;
}

lathe_status lathe_run_end(lathe_session *s, lathe_status status) {
    if (s->place == PLACE_ENDED)
        return fail(&s->err, LATHE_EINVAL, "the run has ended before");
    workers_adopt();
    session_drop_ahead(s);
    s->place = PLACE_ENDED;
    if (status > 0) status = LATHE_OK;
    if (status < 0 && s->err.status == LATHE_OK)
        fail(&s->err, status, "the loop ended it, for a reason that is not the run's");
    if (status == LATHE_OK && is_asked(s, "failed"))
        status = fail(&s->err, LATHE_EIO, "the records of the run cannot be delivered");
    s->reason = reason_of(s, status);
    status = save_last(s, status);
    status = end_training(s, status);
    s->now.reason = s->reason;
    lathe_status last = session_fire_end(s);
    if (status == LATHE_OK && last != LATHE_OK) s->reason = "failed";
    if (status == LATHE_OK) status = last;
    return session_end_records(s, status);
}
