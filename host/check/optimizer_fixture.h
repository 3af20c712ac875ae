/* SPDX-License-Identifier: MIT */
/* An optimizer at work by hand: a block of weights, its slots, and an instance that
 * updates it. */
#ifndef HOST_CHECK_OPTIMIZER_FIXTURE_H
#define HOST_CHECK_OPTIMIZER_FIXTURE_H

#include "check/fixture.h"
#include "passes.h"

#define OPTIMIZER_FLOATS 1031 /* floats: no multiple of anything */
#define OPTIMIZER_UPDATES 8

struct optimizer_fixture {
    struct fixture *fixture;
    struct plugin plugin;
    const lathe_optimizer_ops *ops;
    int32_t slot_count;
    float *weights, *gradients, *slots[PASS_SLOTS_MAX];
    double scale, rate; /* of the spans; the rate is a factor of what it would be */
    bool decays;        /* the first half does */
};

/* Sets the number of slots. */
bool optimizer_fixture_ask_slots(struct optimizer_fixture *optimizer);
bool optimizer_fixture_open(struct optimizer_fixture *optimizer,
                            struct fixture *fixture);
void optimizer_fixture_close(struct optimizer_fixture *optimizer);
/* Weights and slots as they were at first. */
void optimizer_fixture_reset(struct optimizer_fixture *optimizer);
bool optimizer_fixture_are_elementwise(const struct optimizer_fixture *optimizer);
int64_t optimizer_fixture_count(
    const struct optimizer_fixture *optimizer); /* floats in use */
int64_t optimizer_fixture_middle(
    const struct optimizer_fixture *optimizer); /* decay ends here */
/* The gradients of an update, from 1, into a block. */
void optimizer_fixture_draw(const struct optimizer_fixture *optimizer, int64_t update,
                            float *gradients);
/* Draws them into the block's own, times a number, and begins the update. */
void optimizer_fixture_begin_with(struct optimizer_fixture *optimizer, int64_t update,
                                  float times);
/* All of it, in the two spans that decay cuts it into; false: it fails. */
bool optimizer_fixture_update(struct optimizer_fixture *optimizer, int64_t update);
/* Calls the plugin's begin, if it has one. */
void optimizer_fixture_begin(struct optimizer_fixture *optimizer, int64_t update);
/* One span of an update; its gradients are those that were drawn. [any] */
lathe_status optimizer_fixture_step(const struct optimizer_fixture *optimizer,
                                    int64_t update, int64_t first, int64_t count);

/* A block updated by two threads, again and again, has other bits than one thread made:
 * then it fails the check. In optimizer_threads.c. */
bool optimizer_fixture_share(struct fixture *fixture);

#endif
