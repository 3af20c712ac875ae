/* SPDX-License-Identifier: MIT */
/* Two threads share an update, each a half of the block, over and over: races are rare,
 * and on a busy machine they come when a thread is interrupted. So that the threads are
 * at work most of the time, and not meeting, there are many such blocks at once. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "check/optimizer_fixture.h"
#include "check/process.h"

#define SECONDS 1 /* of processor time */
#define PIECE 13  /* floats of a span */
#define LANES 64

struct sharing {
    struct optimizer_fixture *b; /* lane 0 */
    struct optimizer_fixture
        lanes[LANES]; /* the same instance, other weights and slots */
    float *gradients[OPTIMIZER_UPDATES + 1]; /* by update */
    float *expected;                         /* weights after all updates */
    double end;
    int64_t update;
    int arrived;
    bool is_over, differs;
    lathe_status status[2];
};

/* Waits until both threads have come as often. */
static void meet(struct sharing *sharing, int *turn) {
    const int both = 2 * ++*turn;
    __atomic_fetch_add(&sharing->arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&sharing->arrived, __ATOMIC_ACQUIRE) < both) sched_yield();
}

static lathe_status step_lane(const struct sharing *sharing,
                              const struct optimizer_fixture *b, int half) {
    const int64_t end = half ? optimizer_fixture_count(b) : optimizer_fixture_middle(b);
    lathe_status status = LATHE_OK;
    for (int64_t at = half ? optimizer_fixture_middle(b) : 0;
         at < end && status == LATHE_OK; at += PIECE)
        status = optimizer_fixture_step(b, sharing->update, at,
                                        end - at < PIECE ? end - at : PIECE);
    return status;
}

static void step_half(struct sharing *sharing, int half) {
    for (int i = 0; i < LANES && sharing->status[half] == LATHE_OK; i++)
        sharing->status[half] = step_lane(sharing, &sharing->lanes[i], half);
}

/* All updates are made: are the weights those of one thread alone? */
static void judge(struct sharing *sharing) {
    for (int i = 0; i < LANES; i++) {
        if (!check_same(sharing->lanes[i].weights, sharing->expected,
                        OPTIMIZER_FLOATS * sizeof(float)))
            sharing->differs = true;
        optimizer_fixture_reset(&sharing->lanes[i]);
    }
    sharing->is_over = sharing->differs || process_seconds() > sharing->end;
}

/* What comes next, the other thread waiting. */
static void go_on(struct sharing *sharing) {
    struct optimizer_fixture *b = sharing->b;
    const size_t bytes = OPTIMIZER_FLOATS * sizeof(float);
    if (sharing->update == OPTIMIZER_UPDATES) {
        judge(sharing);
        sharing->update = 0;
    }
    if (sharing->status[0] != LATHE_OK || sharing->status[1] != LATHE_OK)
        sharing->is_over = true;
    sharing->update++;
    memcpy(b->gradients, sharing->gradients[sharing->update], bytes);
    optimizer_fixture_begin(b, sharing->update);
}

static void *be_second(void *context) {
    struct sharing *sharing = context;
    process_keep_to(1);
    for (int turn = 0;;) {
        meet(sharing, &turn);
        if (sharing->is_over) return NULL;
        step_half(sharing, 1);
        meet(sharing, &turn);
    }
}

static void be_first(struct sharing *sharing) {
    for (int turn = 0;;) {
        go_on(sharing);
        meet(sharing, &turn);
        if (sharing->is_over) return;
        step_half(sharing, 0);
        meet(sharing, &turn);
    }
}

/* One thread alone, in the same order of calls. */
static void expect(struct sharing *sharing) {
    struct optimizer_fixture *b = sharing->b;
    for (sharing->update = 0; sharing->update < OPTIMIZER_UPDATES;) {
        go_on(sharing);
        step_half(sharing, 0);
        step_half(sharing, 1);
    }
    memcpy(sharing->expected, b->weights, OPTIMIZER_FLOATS * sizeof(float));
    sharing->update = 0;
    for (int i = 0; i < LANES; i++) optimizer_fixture_reset(&sharing->lanes[i]);
}

static bool share(struct sharing *sharing) {
    struct check *check = sharing->b->fixture->check;
    pthread_t thread;
    expect(sharing);
    sharing->end = process_seconds() + SECONDS;
    if (pthread_create(&thread, NULL, be_second, sharing))
        return check_fail(check, "no thread to be had");
    process_keep_to(0);
    be_first(sharing);
    pthread_join(thread, NULL);
    const lathe_status status =
        sharing->status[0] != LATHE_OK ? sharing->status[0] : sharing->status[1];
    if (!fixture_went_well(sharing->b->fixture, &sharing->b->plugin, status, "step"))
        return false;
    if (!sharing->differs) return true;
    return check_fail(check, "in two threads, the update has other bits: `step` is "
                             "[any], so nothing may be kept in the instance meanwhile");
}

/* Its weights and slots, for block_destroy. */
static bool open_lane(const struct optimizer_fixture *b,
                      struct optimizer_fixture *lane) {
    *lane = *b;
    lane->weights = block_create(OPTIMIZER_FLOATS);
    bool is_whole = lane->weights != NULL;
    for (int i = 0; i < b->slot_count; i++)
        is_whole = (lane->slots[i] = block_create(OPTIMIZER_FLOATS)) && is_whole;
    if (is_whole) optimizer_fixture_reset(lane);
    return is_whole;
}

static bool open_sharing(struct sharing *sharing) {
    bool is_whole = (sharing->expected = block_create(OPTIMIZER_FLOATS)) != NULL;
    sharing->lanes[0] = *sharing->b;
    for (int i = 1; i < LANES; i++)
        is_whole = open_lane(sharing->b, &sharing->lanes[i]) && is_whole;
    for (int64_t i = 1; i <= OPTIMIZER_UPDATES; i++) {
        sharing->gradients[i] = block_create(OPTIMIZER_FLOATS);
        is_whole = is_whole && sharing->gradients[i];
        if (sharing->gradients[i])
            optimizer_fixture_draw(sharing->b, i, sharing->gradients[i]);
    }
    return is_whole || check_fail(sharing->b->fixture->check, "out of memory");
}

static void close_sharing(struct sharing *sharing) {
    for (int64_t i = 1; i <= OPTIMIZER_UPDATES; i++)
        block_destroy(sharing->gradients[i], OPTIMIZER_FLOATS);
    for (int i = 1; i < LANES; i++) {
        block_destroy(sharing->lanes[i].weights, OPTIMIZER_FLOATS);
        for (int j = 0; j < sharing->lanes[i].slot_count; j++)
            block_destroy(sharing->lanes[i].slots[j], OPTIMIZER_FLOATS);
    }
    block_destroy(sharing->expected, OPTIMIZER_FLOATS);
}

bool optimizer_fixture_share(struct fixture *fixture) {
    struct optimizer_fixture b;
    struct sharing *sharing = calloc(1, sizeof *sharing);
    if (!sharing) return check_fail(fixture->check, "out of memory");
    sharing->b = &b;
    bool is_well = optimizer_fixture_open(&b, fixture);
    if (is_well) {
        is_well = open_sharing(sharing) && share(sharing);
        close_sharing(sharing);
    }
    optimizer_fixture_close(&b);
    free(sharing);
    return is_well;
}
