/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <time.h>

double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void clock_stamp(char stamp[17]) {
    time_t now = time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || !strftime(stamp, 17, "%Y%m%dT%H%M%SZ", &utc))
        stamp[0] = '\0';
}
