/* SPDX-License-Identifier: MIT */
/* The two passes over the blocks that every step makes: reduce sums the shards'
 * gradients and their squares, step clamps and updates. Both go chunk by chunk, so that
 * a chunk is still in the cache when its next use comes, and each worker has a
 * contiguous range of chunks. The bits depend on the number of shards, never on the
 * number of workers. */
#ifndef HOST_PASSES_H
#define HOST_PASSES_H

#include <lathe/optimizer.h>

#include "parameters.h"

/* Floats. Part of the arithmetic: it fixes the order in which the norm is summed. */
#define PASS_CHUNK 4096
#define PASS_SLOTS_MAX 16
#define PASS_SHARDS_MAX 256

/* Sums one number per shard, in place; [0] is the sum. Neighbours are added first, then
 * their sums, in a tree that depends on `count` alone:
 *
 *     for (d = 1; d < count; d *= 2)
 *         for (i = 0; i + d < count; i += 2 * d) leaves[i] += leaves[i + d];
 *
 * An absent shard holds 0. */
void passes_tree(double *leaves, int64_t count);

struct reduce_pass {
    float *const *shards; /* gradient blocks; NULL: absent, adds nothing */
    int64_t shard_count;
    int64_t size;        /* floats to be summed */
    int64_t trained_end; /* floats that count for the norm */
    double *squares;     /* [passes_chunks(size)]: written */
};

int64_t passes_chunks(int64_t size);
/* Worker `worker` of `workers` does its chunks. The sum of all shards stands in the
 * first shard that is present. */
void passes_reduce(const struct reduce_pass *pass, int worker, int workers);
/* Partial sums of squares, added in the order of the chunks. */
double passes_squares(const struct reduce_pass *pass);
/* block[0 … size) *= factor, the worker's part of it. */
void passes_scale(float *block, int64_t size, double factor, int worker, int workers);

/* One group of the optimizer's. */
struct step_pass {
    const struct parameters *parameters;
    int32_t group;
    int32_t slot_count;
    const lathe_optimizer_ops *ops;
    void *optimizer;
    float *weights, *gradients;
    float *const *slots;
    double mean;       /* gradient * mean is the mean over the window */
    double scale;      /* … * scale is that, clipped by norm */
    double clip_value; /* > 0: the mean is clamped to [-clip_value, clip_value] */
    double rate;
    int64_t step; /* which update of these slots, from 1 */
};

/* Worker `worker` of `workers` updates its part of the weights; returns what the
 * optimizer returned. */
lathe_status passes_step(const struct step_pass *pass, int worker, int workers);
/* Moves the buffers towards their mean statistic. One thread. */
void passes_buffers(const struct step_pass *pass);

#endif
