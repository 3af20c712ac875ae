/* SPDX-License-Identifier: MIT */
/* What a plugin must leave alone in the process it is a guest of: arithmetic, locale,
 * signals, the working directory, the file mode mask, and the number of threads. Looked
 * at before a plugin's code first runs; what differs after is put back where it can be,
 * and the offender is named. (A library linked with -ffast-math flips the arithmetic of
 * the thread that opens it, without its author knowing.) */
#ifndef HOST_GUARD_H
#define HOST_GUARD_H

#include <fenv.h>
#include <signal.h>
#include <sys/types.h>

#include "base/log.h"

#define GUARD_SIGNALS 32

struct guard {
    fenv_t arithmetic;
    uint32_t control; /* of SSE: rounding, traps, denormals */
    sigset_t mask;
    struct sigaction actions[GUARD_SIGNALS];
    char locale[128];
    char directory[512]; /* "" when it could not be told */
    mode_t umask;
    int threads;
    char name[16], mark[16]; /* of the calling thread: its own, and meanwhile */
};

/* Threads of this process; 0 when it cannot be told. */
int guard_threads(void);

void guard_begin(struct guard *guard);
/* Puts back what differs and logs one warning for each, naming `who`. Returns how
 * many. */
int guard_end(const struct guard *guard, struct log *log, const char *who);

#endif
