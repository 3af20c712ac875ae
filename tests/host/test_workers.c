/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
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

/* ---- where they run ---- */

struct places {
    cpu_set_t allowed[4];
    int cpu[4];
};

static void look_round(void *context, int worker) {
    struct places *places = context;
    places->cpu[worker] = sched_getcpu();
    sched_getaffinity(0, sizeof(cpu_set_t), &places->allowed[worker]);
    for (double begin = clock_seconds(); clock_seconds() - begin < 20e-6;) continue;
}

/* Woken where the caller runs, a helper moves off; and nobody is pinned by that. */
static void helpers_make_way_and_stay_free(void **state) {
    (void)state;
    struct workers *workers = NULL;
    struct places places;
    cpu_set_t all, one;
    int apart = 0;
    sched_getaffinity(0, sizeof all, &all);
    if (CPU_COUNT(&all) < 2) skip();
    assert_int_equal(workers_create(2, false, &workers, NULL), LATHE_OK);
    for (int i = 0; i < 4000; i++) {
        if (i % 200 == 0) usleep(1000); /* asleep, it is woken by the kernel */
        workers_run(workers, look_round, &places);
        apart += places.cpu[0] != places.cpu[1];
        assert_true(CPU_EQUAL(&places.allowed[1], &all));
    }
    print_message("apart in %d of 4000 runs\n", apart);
    assert_true(apart > 400); /* others want processors too */
    /* Confined to one processor, they share it. */
    CPU_ZERO(&one);
    CPU_SET((size_t)places.cpu[0], &one);
    workers_destroy(workers);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(workers_create(4, false, &workers, NULL), LATHE_OK);
    for (int i = 0; i < 100; i++) workers_run(workers, look_round, &places);
    assert_true(CPU_EQUAL(&places.allowed[3], &one));
    workers_destroy(workers);
    sched_setaffinity(0, sizeof all, &all);
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
    for (int flush = 0; flush <= CAN_FLUSH; flush++) {
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
        cmocka_unit_test(helpers_make_way_and_stay_free),
        cmocka_unit_test(denormals_are_flushed_only_where_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
