/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static void seconds_go_forward_at_their_rate(void **state) {
    (void)state;
    double before = clock_seconds();
    usleep(20000);
    double passed = clock_seconds() - before;
    assert_true(passed >= 0.02 && passed < 100); /* a machine may be busy */
}

static void a_stamp_is_utc_whatever_the_time_zone(void **state) {
    (void)state;
    char stamp[17];
    setenv("TZ", "Asia/Tokyo", 1);
    tzset();
    const time_t before = time(NULL);
    clock_stamp(stamp);
    struct tm read = {0};
    assert_int_equal(strlen(stamp), 16);
    char *end = strptime(stamp, "%Y%m%dT%H%M%SZ", &read);
    assert_non_null(end);
    assert_int_equal(*end, 0);
    assert_in_range(timegm(&read), before, time(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_go_forward_at_their_rate),
        cmocka_unit_test(a_stamp_is_utc_whatever_the_time_zone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
