/* SPDX-License-Identifier: MIT */
/* The training loop, on the embedding API and nothing else. What begins returns
 * LATHE_OK while there is another one and LATHE_END after the last; any other status
 * ends the run, and lathe_run_end says how. */
#include <lathe/session.h>

static lathe_status step(lathe_session *s) {
    lathe_status e;
    while ((e = lathe_batch_begin(s)) == LATHE_OK) {
        if ((e = lathe_forward(s)) != LATHE_OK) return e;
        if ((e = lathe_backward(s)) != LATHE_OK) return e;
    }
    if (e != LATHE_END) return e;
    if ((e = lathe_reduce(s)) != LATHE_OK) return e;
    if ((e = lathe_update(s)) != LATHE_OK) return e;
    if (lathe_is_due(s, LATHE_DUE_VALIDATION) && (e = lathe_validate(s)) != LATHE_OK)
        return e;
    if (lathe_is_due(s, LATHE_DUE_EPOCH_END) && (e = lathe_epoch_end(s)) != LATHE_OK)
        return e;
    return lathe_is_due(s, LATHE_DUE_CHECKPOINT) ? lathe_save(s) : LATHE_OK;
}

static lathe_status epoch(lathe_session *s) {
    lathe_status e;
    while ((e = lathe_step_begin(s)) == LATHE_OK)
        if ((e = step(s)) != LATHE_OK) return e;
    return e == LATHE_END ? LATHE_OK : e;
}

static lathe_status stage(lathe_session *s) {
    lathe_status e;
    while ((e = lathe_epoch_begin(s)) == LATHE_OK)
        if ((e = epoch(s)) != LATHE_OK) return e;
    return e == LATHE_END ? LATHE_OK : e;
}

lathe_status lathe_run(lathe_session *s) {
    lathe_status e = lathe_run_begin(s);
    while (e == LATHE_OK && (e = lathe_stage_begin(s)) == LATHE_OK) e = stage(s);
    return lathe_run_end(s, e);
}
