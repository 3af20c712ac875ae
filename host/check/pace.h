/* SPDX-License-Identifier: MIT */
/* Tests that do the same again and again, and plugins that take their time: what is
 * wanted is cut short where it would not be done within the time limit, and the test
 * says so. A slow plugin is no broken one. */
#ifndef HOST_CHECK_PACE_H
#define HOST_CHECK_PACE_H

#include "check/check.h"

/* Zero but for the first three. */
struct pace {
    struct check *check;
    const char *what; /* "run": what is done again */
    int64_t total;    /* times that are wanted */
    int64_t done;
    double began;
};

/* Once before each time: is there time for it? There is for the first. False: the check
 * is skipped, and says why. */
bool pace_next(struct pace *pace);
/* How many of so many times there is time for, where each takes so long; at least one.
 * Says so when they are fewer. */
int64_t pace_times(struct check *check, const char *what, double seconds,
                   int64_t wanted);

#endif
