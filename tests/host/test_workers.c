/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "workers.h"

struct board {
    int64_t counts[8];
    int selves[8];
};

static void count_in(void *context, int worker) {
    struct board *board = context;
    board->counts[worker]++;
    board->selves[worker] = workers_self();
}

static void everyone_comes_every_time(void **state) {
    (void)state;
    for (int count = 1; count <= 8; count++) {
        struct workers *workers = NULL;
        struct board board = {0};
        assert_int_equal(workers_create(count, false, &workers, NULL), LATHE_OK);
        for (int i = 0; i < 2000; i++) {
            workers_run(workers, count_in, &board);
            if (i % 500 == 0) usleep(2000); /* long enough for all to fall asleep */
        }
        for (int i = 0; i < count; i++) {
            assert_int_equal(board.counts[i], 2000);
            assert_int_equal(board.selves[i], i);
        }
        workers_destroy(workers);
    }
}

struct tiny {
    volatile float from;
    float halves[4];
};

static void halve(void *context, int worker) {
    struct tiny *tiny = context;
    tiny->halves[worker] = tiny->from / 2;
}

static void denormals_are_flushed_only_where_asked(void **state) {
    (void)state;
    for (int flush = 0; flush <= 1; flush++) {
        struct workers *workers = NULL;
        struct tiny tiny = {.from = 1.5e-38f};
        assert_int_equal(workers_create(3, flush, &workers, NULL), LATHE_OK);
        workers_run(workers, halve, &tiny);
        for (int i = 0; i < 3; i++) assert_true((tiny.halves[i] == 0) == flush);
        volatile float after = tiny.from / 2;
        assert_true(after != 0); /* the caller's own arithmetic is as it was */
        workers_destroy(workers);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyone_comes_every_time),
        cmocka_unit_test(denormals_are_flushed_only_where_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
