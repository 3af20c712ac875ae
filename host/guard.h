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

/* Which threads the calling one starts meanwhile: a thread has the name of the one that
 * starts it, so that what others start is not counted. One that names itself is
 * overlooked. */
struct guard_threads {
    int count;               /* of the process */
    char name[16], mark[16]; /* of the calling thread: its own, and meanwhile */
};
void guard_threads_begin(struct guard_threads *threads);
int guard_threads_end(const struct guard_threads *threads); /* how many it started */

struct guard {
    fenv_t arithmetic;
    uint32_t control; /* of SSE: rounding, traps, denormals */
    sigset_t mask;
    struct sigaction actions[GUARD_SIGNALS];
    char locale[128];
    char directory[512]; /* "" when it could not be told */
    mode_t umask;
    struct guard_threads threads;
};

void guard_begin(struct guard *guard);
/* Puts back what differs and logs one warning for each, naming `who`. Returns how
 * many. */
int guard_end(const struct guard *guard, struct log *log, const char *who);

#endif
