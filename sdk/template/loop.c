/* SPDX-License-Identifier: MIT */
/* The loop of `lathe run`, by hand: the same records, and in its checkpoints the same
 * weights and state to the last bit. Change it into yours. */

#include <lathe/session.h>
#include <stdio.h>

static lathe_status step(lathe_session *s) {
    lathe_status e;
    while ((e = lathe_batch_begin(s)) == LATHE_OK)
        if ((e = lathe_forward(s)) || (e = lathe_backward(s))) return e;
    if (e != LATHE_END) return e; /* LATHE_END: the window of `accumulate` is full */
    if ((e = lathe_reduce(s)) || (e = lathe_update(s))) return e;
    if (lathe_is_due(s, LATHE_DUE_VALIDATION) && (e = lathe_validate(s))) return e;
    if (lathe_is_due(s, LATHE_DUE_EPOCH_END) && (e = lathe_epoch_end(s))) return e;
    return lathe_is_due(s, LATHE_DUE_CHECKPOINT) ? lathe_save(s) : LATHE_OK;
}

static lathe_status train(lathe_session *s) {
    lathe_status e = lathe_run_begin(s);
    if (e) return e;
    while ((e = lathe_stage_begin(s)) == LATHE_OK) {
        while ((e = lathe_epoch_begin(s)) == LATHE_OK) {
            while ((e = lathe_step_begin(s)) == LATHE_OK)
                if ((e = step(s))) return e;
            if (e != LATHE_END) return e; /* LATHE_END: no more steps in this epoch */
        }
        if (e != LATHE_END) return e; /* no more epochs in this stage */
    }
    return e; /* no more stages; else why a piece failed */
}

static void print(void *context, const char *json) {
    (void)context;
    puts(json);
}

int main(int count, char **words) { /* loop EXPERIMENT DIRECTORY [PATH=VALUE...] */
    if (count < 3) return 64;
    const lathe_session_options options = {.size = sizeof options,
                                           .flags = LATHE_QUIET,
                                           .experiment = words[1],
                                           .overrides = (const char *const *)words + 3,
                                           .run_directory = words[2],
                                           .record = print};
    lathe_error error = {.size = sizeof error};
    lathe_session *session;
    if (lathe_open(&options, &session, &error)) {
        fprintf(stderr, "%s\n%s\n%s\n", error.what, error.where, error.help);
        return 1;
    }
    lathe_status e = lathe_run_end(session, train(session));
    if (e < 0) fprintf(stderr, "%s\n", lathe_last_error(session)->what);
    lathe_close(session);
    return e < 0;
}
