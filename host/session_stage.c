/* SPDX-License-Identifier: MIT */
/* From one stage to the next: what a checkpoint would hold is put aside in memory, the
 * next stage is composed anew, and takes it up like a run that goes on. So a run that
 * is resumed behind a stage's end differs in nothing from one that went through it. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "session_calls.h"

static bool has_next(const lathe_session *s) {
    return s->now.stage <= (int64_t)s->experiments->stage_count;
}

static void choose(lathe_session *s, int64_t stage) {
    s->now.stage = stage;
    s->experiment = stage > 1 ? s->experiments->stages[stage - 2] : s->experiments;
    s->log_due.every = s->experiment->train.log;
    s->validate_due.every = s->experiment->train.validate;
}

lathe_status session_find_stage(lathe_session *s) {
    struct json *loop = NULL;
    choose(s, 1);
    if (!s->origin) return LATHE_OK;
    lathe_status status = session_read_note(s, NOTE_LOOP, &loop);
    if (status != LATHE_OK) {
        error_where(&s->err, "%s", s->origin_path);
        return status;
    }
    const int64_t stage = json_whole(json_get(loop, "stage"));
    s->stage.step = json_whole(json_get(loop, "stage_step"));
    json_close(loop);
    if (stage < 1 || stage > (int64_t)s->experiments->stage_count + 1)
        return fail(&s->err, LATHE_EINVAL,
                    "the checkpoint is of stage %lld, and the experiment has %zu",
                    (long long)stage, s->experiments->stage_count + 1);
    choose(s, stage);
    return LATHE_OK;
}

static lathe_status compose(lathe_session *s, int64_t stage) {
    choose(s, stage);
    lathe_status status = session_open_workers(s);
    if (status == LATHE_OK) status = metrics_create(&s->metrics, &s->err);
    if (status == LATHE_OK) status = session_compose(s);
    return status == LATHE_OK ? session_note_plugins(s) : status;
}

static void decompose(lathe_session *s) {
    session_free_snapshot(s);
    session_decompose(s);
    metrics_destroy(s->metrics);
    workers_destroy(s->workers);
    s->metrics = NULL;
    s->workers = NULL;
}

lathe_status session_compose_stages(lathe_session *s) {
    const int64_t present = s->now.stage;
    lathe_status status = LATHE_OK;
    for (int64_t stage = (int64_t)s->experiments->stage_count + 1;
         status == LATHE_OK && stage >= present; stage--) {
        status = compose(s, stage);
        if (status == LATHE_OK && stage > present) decompose(s);
    }
    return status;
}

/* *path is the caller's, and good while fd is open. */
static lathe_status put_aside(lathe_session *s, int *fd, char **path) {
    *fd = memfd_create("lathe-stage", MFD_CLOEXEC);
    if (*fd < 0)
        return fail(&s->err, LATHE_ENOMEM, "no memory to go to the next stage");
    *path = text_make("/proc/self/fd/%d", *fd);
    if (!*path) return fail(&s->err, LATHE_ENOMEM, "no memory to go to the next stage");
    lathe_status status =
        s->checkpoints ? checkpoints_wait(s->checkpoints, &s->err) : LATHE_OK;
    return status == LATHE_OK ? session_write_all(s, *fd) : status;
}

static lathe_status compose_next(lathe_session *s) {
    decompose(s);
    s->phase = PHASE_LOAD;
    lathe_status status = compose(s, s->now.stage + 1);
    s->phase = PHASE_LOOP;
    return status;
}

static lathe_status take_up(lathe_session *s, const char *path) {
    const int64_t stage = s->now.stage;
    lathe_status status = safetensors_open(path, &s->origin, &s->err);
    if (status == LATHE_OK) status = session_restore(s, true);
    safetensors_close(s->origin);
    s->origin = NULL;
    s->began = clock_seconds();
    s->now.stage = stage;
    if (!s->experiment->train.keeps_slots) s->updates = 0;
    s->resumes_in_epoch = s->resumes_after_update = false;
    s->is_epoch_done = s->validate_due.is_due = false;
    return status;
}

static lathe_status begin_next(lathe_session *s) {
    int fd = -1;
    char *path = NULL;
    const struct stage_start start = {.step = s->now.step,
                                      .windows = session_windows(s),
                                      .seconds = session_seconds(s)};
    lathe_status status = put_aside(s, &fd, &path);
    s->rest.kind = REST_NONE;
    s->stage = start;
    if (status == LATHE_OK) status = compose_next(s);
    if (status == LATHE_OK) status = take_up(s, path);
    s->stage = start;
    free(path);
    if (fd >= 0) close(fd);
    if (status != LATHE_OK) return status;
    log_line(&s->log, LATHE_LOG_INFO, "stage %lld begins after step %lld",
             (long long)s->now.stage, (long long)s->now.step);
    session_trace_act(s, "stage", "stage", (double)s->now.stage);
    status = session_fire(s, POINT_RUN_BEGIN);
    if (status == LATHE_OK) s->rest.kind = REST_HERE;
    return status;
}

lathe_status lathe_stage_begin(lathe_session *s) {
    lathe_status status =
        session_allow(s, PLACE_RUN | PLACE_EPOCH, "lathe_stage_begin");
    if (status != LATHE_OK) return status;
    s->place = PLACE_RUN;
    if (!s->is_stage_begun) {
        s->is_stage_begun = true;
        return LATHE_OK;
    }
    if (!has_next(s) || session_is_stopped(s)) return LATHE_END;
    return begin_next(s);
}
