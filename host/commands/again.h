/* SPDX-License-Identifier: MIT */
/* A run done again: the built-in loop, written on the embedding API. It ends where the
 * first run did, and takes the digest of the weights wherever the first run kept them.
 * What is run, and how the two are compared, is the command's. */
#ifndef HOST_COMMANDS_AGAIN_H
#define HOST_COMMANDS_AGAIN_H

#include <stdbool.h>

#include <lathe/session.h>

#include "bundle/staging.h"
#include "json.h"

/* What becomes of the run after step `last`. */
enum again_end {
    AGAIN_ENDS = 0, /* nothing: it has to end there of its own */
    AGAIN_FINISH,   /* it is completed: a time was over, and is no bound today */
    AGAIN_CUT       /* it is interrupted, as the first one was, or a prefix is wanted */
};

struct again {
    int64_t last;
    enum again_end end;
    const struct json *kept;       /* [{"step"}]: where weights are looked at */
    const struct staging *staging; /* a signal that it holds back ends the run */
    void (*begun)(void *context);  /* the session is there, and nothing has run */
    void *context;
    /* what came of it */
    bool is_done;         /* the loop was turned to its end, and nobody stopped it */
    bool goes_on;         /* it did not end of its own */
    lathe_status status;  /* of the run */
    struct json *weights; /* [{"step", "sha256"}], the caller's */
};

/* Turns the session to its end; `context` is a struct again. For struct turn. */
lathe_status again_run(void *context, lathe_session *session);

#endif
