/* SPDX-License-Identifier: MIT */
#include "commands/again.h"

#include <stdlib.h>
#include <string.h>

#include "checkpoints.h"
#include "commands/compare.h"

/* ---- weights ---- */

/* As a checkpoint has them. */
static bool digest_weights(lathe_session *session, char hex[DIGEST_HEX]) {
    const int64_t count = lathe_parameters(session);
    const float *weights = lathe_weights(session, LATHE_READ, NULL);
    struct safetensor *tensors = calloc((size_t)count + 1, sizeof *tensors);
    if (!tensors) return false;
    for (int64_t i = 0; i < count; i++) {
        lathe_parameter_view view = {.size = sizeof view};
        lathe_parameter_at(session, i, &view);
        tensors[i] = (struct safetensor){.name = view.name,
                                         .dtype = "F32",
                                         .rank = (int32_t)view.rank,
                                         .bytes = view.count * (int64_t)sizeof(float),
                                         .data = weights + view.offset};
        memcpy(tensors[i].shape, view.shape, sizeof tensors[i].shape);
    }
    checkpoints_digest(tensors, (size_t)count, hex);
    free(tensors);
    return true;
}

static lathe_status look(struct again *again, lathe_session *session) {
    const int64_t step = lathe_now(session)->step;
    char hex[DIGEST_HEX];
    if (!compare_find_step(again->kept, step)) return LATHE_OK;
    struct json *map = json_make_map();
    if (map && digest_weights(session, hex) &&
        json_put(map, "step", json_make_whole(step)) &&
        json_put(map, "sha256", json_make_text(hex)))
        return json_push(again->weights, map) ? LATHE_OK : LATHE_ENOMEM;
    json_close(map);
    return LATHE_ENOMEM;
}

/* ---- the loop ---- */

/* LATHE_END: this was the last step. */
static lathe_status judge_end(struct again *again, lathe_session *session) {
    if (staging_is_interrupted(again->staging)) lathe_stop(session, "preempted");
    if (lathe_now(session)->step < again->last || again->end == AGAIN_ENDS)
        return LATHE_OK;
    if (again->end == AGAIN_CUT) lathe_stop(session, "interrupted");
    return LATHE_END;
}

static lathe_status step(struct again *again, lathe_session *s) {
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
    if (lathe_is_due(s, LATHE_DUE_CHECKPOINT) && (e = lathe_save(s)) != LATHE_OK)
        return e;
    return look(again, s);
}

/* A run that goes past the end of the first is not the same: it need not go on. */
static lathe_status epoch(struct again *again, lathe_session *s) {
    lathe_status e;
    while ((e = judge_end(again, s)) == LATHE_OK &&
           (e = lathe_step_begin(s)) == LATHE_OK) {
        if ((e = step(again, s)) != LATHE_OK) return e;
        if (lathe_now(s)->step <= again->last) continue;
        again->goes_on = true;
        lathe_stop(s, "interrupted");
    }
    return e == LATHE_END ? LATHE_OK : e;
}

static lathe_status stage(struct again *again, lathe_session *s) {
    lathe_status e;
    while ((e = judge_end(again, s)) == LATHE_OK &&
           (e = lathe_epoch_begin(s)) == LATHE_OK)
        if ((e = epoch(again, s)) != LATHE_OK) return e;
    return e == LATHE_END ? LATHE_OK : e;
}

lathe_status again_run(void *context, lathe_session *session) {
    struct again *again = context;
    if (again->begun) again->begun(again->context);
    lathe_status e = lathe_run_begin(session);
    if (e == LATHE_OK) e = look(again, session);
    while (e == LATHE_OK && (e = judge_end(again, session)) == LATHE_OK &&
           (e = lathe_stage_begin(session)) == LATHE_OK)
        e = stage(again, session);
    again->status = lathe_run_end(session, e);
    const bool is_stopped =
        lathe_reason(session) && (!strcmp(lathe_reason(session), "interrupted") ||
                                  !strcmp(lathe_reason(session), "preempted"));
    again->is_done =
        !is_stopped || again->goes_on ||
        (again->end == AGAIN_CUT && lathe_now(session)->step >= again->last);
    return again->status;
}
