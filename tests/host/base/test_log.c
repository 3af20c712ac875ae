/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

struct seen {
    int count, inside, overlaps;
    int32_t level;
    char last[2048];
};

static void take(void *context, int32_t level, const char *text) {
    struct seen *seen = context;
    seen->overlaps += seen->inside++ != 0;
    seen->count++;
    seen->level = level;
    snprintf(seen->last, sizeof seen->last, "%s", text);
    if (seen->count % 16 == 0) sched_yield(); /* room for another one to come in */
    seen->inside--;
}

static void lines_come_finished_and_clean(void **state) {
    (void)state;
    struct seen seen = {0};
    struct log log = {take, &seen, 0};
    log_line(&log, LATHE_LOG_WARNING, "step %d\n", 7);
    assert_string_equal(seen.last, "step 7");
    assert_int_equal(seen.level, LATHE_LOG_WARNING);
    log_line(&log, LATHE_LOG_INFO, "a\nb\x1b[2J");
    assert_string_equal(seen.last, "a?b?[2J");
    assert_int_equal(seen.count, 2);
    char text[3000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    log_line(&log, LATHE_LOG_INFO, "%s", text);
    assert_in_range(strlen(seen.last), 500, 1023);
}

static void without_a_writer_lines_are_lost(void **state) {
    (void)state;
    struct log log = {0};
    log_line(&log, LATHE_LOG_INFO, "x");
    log_line(NULL, LATHE_LOG_INFO, "x");
}

static void *write_lines(void *log) {
    for (int i = 0; i < 2000; i++) log_line(log, LATHE_LOG_DEBUG, "line %d", i);
    return NULL;
}

static void eight_threads_write_one_line_at_a_time(void **state) {
    (void)state;
    struct seen seen = {0};
    struct log log = {take, &seen, 0};
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &log), 0);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    assert_int_equal(seen.count, 16000);
    assert_int_equal(seen.overlaps, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_finished_and_clean),
        cmocka_unit_test(without_a_writer_lines_are_lost),
        cmocka_unit_test(eight_threads_write_one_line_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
