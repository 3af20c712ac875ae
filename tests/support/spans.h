/* SPDX-License-Identifier: MIT */
/* One update by an optimizer as the host makes it: begin, then spans of any length. */
#ifndef TESTS_SUPPORT_SPANS_H
#define TESTS_SUPPORT_SPANS_H

#include "arrays.h"

#include <lathe/optimizer.h>

struct spans {
    const lathe_optimizer_ops *ops;
    void *self;
    int64_t count;
    float *weights, *slots[2];
    const float *gradients;
    double scale, rate;
    uint32_t flags;  /* LATHE_DECAYS */
    int64_t longest; /* spans are 1 to this many floats; 0: one span */
    uint32_t seed;   /* of the cuts */
};

static inline void spans_update(const struct spans *s, int64_t step) {
    lathe_key key = {s->seed, (uint32_t)step};
    uint32_t draw[4];
    if (s->ops->begin) s->ops->begin(s->self, step, s->rate);
    for (int64_t first = 0, count; first < s->count; first += count) {
        lathe_random4(key, (uint64_t)first, 0, draw);
        count = s->longest ? 1 + draw[0] % s->longest : s->count;
        if (count > s->count - first) count = s->count - first;
        float *slots[2] = {s->slots[0] ? s->slots[0] + first : NULL,
                           s->slots[1] ? s->slots[1] + first : NULL};
        lathe_span span = {.size = sizeof span,
                           .flags = s->flags,
                           .first = first,
                           .count = count,
                           .weights = s->weights + first,
                           .gradients = s->gradients + first,
                           .slots = slots,
                           .scale = s->scale,
                           .rate = s->rate,
                           .step = step};
        assert_int_equal(s->ops->step(s->self, &span), LATHE_OK);
    }
}

/* Runs `steps` updates in one span each, then with the block cut at random, and expects
 * the same bits in weights and slots. */
static inline void spans_expect_same_bits(struct spans s, int steps) {
    enum { COUNT = 1003 };
    _Alignas(64) float whole[3][COUNT], cut[3][COUNT], gradients[COUNT];
    s.count = COUNT;
    s.gradients = gradients;
    for (uint32_t seed = 0; seed < 20; seed++) {
        for (int pass = 0; pass < 2; pass++) {
            float(*blocks)[COUNT] = pass ? cut : whole;
            memset(blocks, 0, sizeof whole);
            array_fill(blocks[0], COUNT, 1, 1);
            s.weights = blocks[0];
            s.slots[0] = blocks[1];
            s.slots[1] = blocks[2];
            s.longest = pass ? 1 + 7 * seed : 0;
            s.seed = seed;
            for (int step = 1; step <= steps; step++) {
                array_fill(gradients, COUNT, 1, 100 + (uint32_t)step);
                spans_update(&s, step);
            }
        }
        assert_memory_equal(whole, cut, sizeof whole);
    }
}

#endif
