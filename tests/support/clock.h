/* SPDX-License-Identifier: MIT */
/* A clock that a test sets: define clock_gettime as read_clock round what is tested. */
#ifndef TESTS_SUPPORT_CLOCK_H
#define TESTS_SUPPORT_CLOCK_H

#include <time.h>

/* Seconds; below 0: those of this process alone, for the machine may be busy. */
static double clock_now;

static int read_clock(clockid_t id, struct timespec *now) {
    if (clock_now < 0) return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, now);
    (void)id;
    now->tv_sec = (time_t)clock_now;
    now->tv_nsec = (long)(1e9 * (clock_now - (double)now->tv_sec));
    return 0;
}

#endif
