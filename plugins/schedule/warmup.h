/* SPDX-License-Identifier: MIT */
/* The warm-up that schedules have in common: for `warmup` steps the factor rises in a
 * line to where the schedule begins, 1/warmup of it in the first update and all of it
 * in the last. Not a plugin; a plugin declares the option "warmup" and asks here. */
#ifndef SCHEDULE_WARMUP_H
#define SCHEDULE_WARMUP_H

#include <lathe/host.h>

/* The option "warmup" in steps; 0: none. */
static inline int64_t warmup_read(const lathe_host *host) {
    return lathe_has(host, "warmup") ? lathe_steps(host, "warmup") : 0;
}

/* How much of the rate the warm-up lets through: (step + 1) / warmup, then 1. */
static inline double warmup_rise(int64_t step, int64_t warmup) {
    return step < warmup ? (double)(step + 1) / (double)warmup : 1;
}

/* How much is done of the `length` steps after the warm-up: 0 until they begin, 1 when
 * they are over. */
static inline double warmup_done(int64_t step, int64_t warmup, int64_t length) {
    int64_t since = step - warmup;
    if (since < 0) return 0;
    return since < length ? (double)since / (double)length : 1;
}

#endif
