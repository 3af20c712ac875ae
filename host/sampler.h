/* SPDX-License-Identifier: MIT */
/* Which samples a step sees: the order of an epoch, its cut into micro-batches and
 * windows, and a micro-batch's cut into slices. Pure arithmetic; no memory grows with
 * the data. */
#ifndef HOST_SAMPLER_H
#define HOST_SAMPLER_H

#include <stdint.h>

#include <lathe/random.h>

/* A keyed bijection of 0 … length-1: any position can be had at once, without the
 * others. */
struct order {
    int64_t length;
    uint32_t low_bits, high_bits; /* of the Feistel network's two halves */
    uint32_t keys[8];             /* one per round */
};

void order_init(struct order *order, lathe_key key, int64_t length);
/* The index that stands at a position. */
int64_t order_at(const struct order *order, int64_t position);

/* The cut of an epoch. A window is `accumulate` micro-batches, the unit of one step;
 * the last window of an epoch holds what is left, and windows never cross epochs. */
struct sampler {
    int64_t samples, batch, accumulate;
    int64_t micros_per_epoch, steps_per_epoch;
};

void sampler_init(struct sampler *sampler, int64_t samples, int64_t batch,
                  int64_t accumulate);
/* Micro-batches in window `step` of an epoch, from 0. */
int64_t sampler_window(const struct sampler *sampler, int64_t step);
/* Rows of micro-batch `micro` of an epoch, from 0. */
int64_t sampler_rows(const struct sampler *sampler, int64_t micro);

/* Slice s of S of n rows is [n*s/S, n*(s+1)/S). */
static inline int64_t sampler_slice(int64_t rows, int64_t slice, int64_t slices) {
    return rows / slices * slice + rows % slices * slice / slices; /* cannot overflow */
}

#endif
