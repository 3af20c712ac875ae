/* SPDX-License-Identifier: MIT */
/* An optimizer at work by hand: a block of weights, its slots, and an instance that
 * updates it. */
#ifndef HOST_CHECK_BLOCKS_H
#define HOST_CHECK_BLOCKS_H

#include "check/bench.h"
#include "passes.h"

#define BLOCKS_COUNT 1031 /* floats: no multiple of anything */
#define BLOCKS_UPDATES 8

struct blocks {
    struct bench *bench;
    struct plugin plugin;
    const lathe_optimizer_ops *ops;
    int32_t slot_count;
    float *weights, *gradients, *slots[PASS_SLOTS_MAX];
    double scale, rate; /* of the spans; the rate is a factor of what it would be */
    bool decays;        /* the first half does */
};

/* Sets the number of slots. */
bool blocks_ask_slots(struct blocks *blocks);
bool blocks_open(struct blocks *blocks, struct bench *bench);
void blocks_close(struct blocks *blocks);
/* Weights and slots as they were at first. */
void blocks_reset(struct blocks *blocks);
bool blocks_are_elementwise(const struct blocks *blocks);
int64_t blocks_count(const struct blocks *blocks);  /* floats in use */
int64_t blocks_middle(const struct blocks *blocks); /* decay ends here */
/* The gradients of an update, from 1, into a block. */
void blocks_draw(const struct blocks *blocks, int64_t update, float *gradients);
/* Draws them into the block's own, times a number, and begins the update. */
void blocks_begin_with(struct blocks *blocks, int64_t update, float times);
/* All of it, in the two spans that decay cuts it into; false: it fails. */
bool blocks_update(struct blocks *blocks, int64_t update);
/* Calls the plugin's begin, if it has one. */
void blocks_begin(struct blocks *blocks, int64_t update);
/* One span of an update; its gradients are those that were drawn. [any] */
lathe_status blocks_step(const struct blocks *blocks, int64_t update, int64_t first,
                         int64_t count);

/* A block updated by two threads, again and again, has other bits than one thread made:
 * then it fails the check. In optimizer_threads.c. */
bool blocks_share(struct bench *bench);

#endif
