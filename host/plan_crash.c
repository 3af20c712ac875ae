/* SPDX-License-Identifier: MIT */
/* What a handler of signals asks of a session. */
#include "plan.h"
#include "session_state.h"

bool plan_mend(const lathe_session *session, const void *address) {
    return files_mend(session->files, address);
}

const char *plan_directory(const lathe_session *s) {
    return s->rundir ? rundir_path(s->rundir) : NULL;
}

void plan_note_crash(const lathe_session *s, int directory, int exit_code) {
    const struct run_status status = {.state = "ended",
                                      .reason = "failed",
                                      .exit_code = exit_code,
                                      .epoch = s->now.epoch,
                                      .step = s->now.step};
    rundir_patch_status(directory, &status);
}

void plan_end_record(const lathe_session *s, struct plain *record) {
    plain_add(record, "{\"event\":\"end\",\"reason\":\"failed\",\"epochs\":");
    plain_add_number(record, s ? s->epochs : 0);
    plain_add(record, ",\"steps\":");
    plain_add_number(record, s ? s->now.step : 0);
    plain_add(record, ",\"samples\":");
    plain_add_number(record, s ? s->now.samples : 0);
    plain_add(record, ",\"run\":");
    plain_add_json(record, s ? plan_directory(s) : NULL);
    plain_add(record, ",\"metrics\":{}");
    if (s && s->rundir) {
        plain_add(record, ",\"seed\":");
        plain_add_number(record, (int64_t)s->experiment->seed);
    }
    plain_add(record, "}");
}
