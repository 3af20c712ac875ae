/* SPDX-License-Identifier: MIT */
#include "check/pace.h"

#include <math.h>

#include "base/clock.h"

#define MOST 0.9 /* of the time limit, for all that is wanted */
#define LESS 0.2 /* of it, where not all of that can be done */

static double elapsed(const struct check *check) {
    return clock_seconds() - check->began;
}

/* "40 s", "9 min" */
static void write_time(double seconds, char text[32]) {
    const bool is_short = seconds < 90;
    snprintf(text, 32, "%.0f %s", is_short ? seconds : ceil(seconds / 60),
             is_short ? "s" : "min");
}

static void say(struct check *check, const char *what, double each, int64_t total) {
    char whole[32], call[128] = "";
    const struct slow *slow = &check->slowest;
    const double seconds = each * (double)total;
    write_time(seconds, whole);
    if (slow->seconds > each / 20)
        snprintf(call, sizeof call, " (each %s %.2g s)", slow->call, slow->seconds);
    check_skip(check,
               "each %s takes %.2g s%s: %lld of them would take %s; say "
               "--time-limit %.0fmin",
               what, each, call, (long long)total, whole, ceil(seconds / 45));
}

bool pace_next(struct pace *pace) {
    struct check *check = pace->check;
    const double now = clock_seconds();
    if (!pace->done) pace->began = now;
    if (pace->done++) {
        const double each = (now - pace->began) / (double)(pace->done - 1);
        const double left = each * (double)(pace->total - pace->done + 1);
        const double gone = elapsed(check);
        if (gone + left > MOST * check->time_limit &&
            gone + each > LESS * check->time_limit) {
            say(check, pace->what, each, pace->total);
            return false;
        }
    }
    return true;
}

int64_t pace_times(struct check *check, const char *what, double seconds,
                   int64_t wanted) {
    const double left = MOST * check->time_limit - elapsed(check);
    if (seconds * (double)wanted <= left) return wanted;
    say(check, what, seconds, wanted);
    const double some = LESS * check->time_limit / seconds;
    return some < 1 ? 1 : some < (double)wanted ? (int64_t)some : wanted;
}
