/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <time.h>

int64_t clock_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double clock_seconds(void) {
    return 1e-9 * (double)clock_nanoseconds();
}

void clock_stamp(char stamp[17]) {
    time_t now = time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || !strftime(stamp, 17, "%Y%m%dT%H%M%SZ", &utc))
        stamp[0] = '\0';
}
