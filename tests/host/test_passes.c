/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes.h"

#define SIZE (3 * PASS_CHUNK + 77)

static float draw(uint64_t i) {
    uint32_t out[4];
    lathe_random4((lathe_key){1, 2}, i, 0, out);
    return lathe_unit(out[0]) - 0.5f;
}

static void fill(float *block, uint64_t which) {
    for (int64_t i = 0; i < SIZE; i++) block[i] = draw(which * SIZE + (uint64_t)i);
}

/* The tree as passes.h writes it, on numbers; absent leaves are left out. */
static float reference(float *const *shards, int count, int64_t at) {
    float g[16];
    int is_there[16];
    for (int i = 0; i < count; i++) {
        is_there[i] = shards[i] != NULL;
        g[i] = is_there[i] ? shards[i][at] : 0;
    }
    for (int d = 1; d < count; d *= 2)
        for (int i = 0; i + d < count; i += 2 * d) {
            if (!is_there[i + d]) continue;
            g[i] = is_there[i] ? g[i] + g[i + d] : g[i + d];
            is_there[i] = 1;
        }
    return g[0];
}

static void reduce(float *const *shards, int count, double *squares, int workers) {
    const struct reduce_pass pass = {.shards = shards,
                                     .shard_count = count,
                                     .size = SIZE,
                                     .trained_end = SIZE - 50,
                                     .squares = squares};
    for (int worker = 0; worker < workers; worker++)
        passes_reduce(&pass, worker, workers);
}

static void reduce_is_the_tree(void **state) {
    (void)state;
    float *blocks[16], *expected = malloc(SIZE * sizeof(float));
    for (int i = 0; i < 16; i++) blocks[i] = malloc(SIZE * sizeof(float));
    for (int count = 1; count <= 7; count++)
        for (unsigned present = 1; present < 1u << count; present++) {
            float *shards[16];
            const float *first = NULL;
            for (int i = 0; i < count; i++) {
                fill(blocks[i], (uint64_t)i);
                shards[i] = present >> i & 1 ? blocks[i] : NULL;
                if (shards[i] && !first) first = shards[i];
            }
            for (int64_t i = 0; i < SIZE; i++)
                expected[i] = reference(shards, count, i);
            double squares[8];
            reduce(shards, count, squares, 1 + (int)present % 3);
            assert_memory_equal(first, expected, SIZE * sizeof(float));
        }
    for (int i = 0; i < 16; i++) free(blocks[i]);
    free(expected);
}

static void norm_is_right_whoever_adds(void **state) {
    (void)state;
    float *block = malloc(SIZE * sizeof *block);
    float *shards[1] = {block};
    fill(block, 3);
    double sums[4], exact = 0;
    for (int64_t i = 0; i < SIZE - 50; i++)
        exact += (double)block[i] * (double)block[i];
    for (int workers = 1; workers <= 4; workers++) {
        double squares[8];
        reduce(shards, 1, squares, workers);
        const struct reduce_pass pass = {.size = SIZE, .squares = squares};
        sums[workers - 1] = passes_squares(&pass);
        assert_true(sums[workers - 1] == sums[0]);
    }
    assert_true(fabs(sums[0] - exact) < 1e-9 * exact);
    block[SIZE - 60] = INFINITY;
    double squares[8];
    reduce(shards, 1, squares, 1);
    const struct reduce_pass pass = {.size = SIZE, .squares = squares};
    assert_false(isfinite(passes_squares(&pass)));
    free(block);
}

/* ---- step ---- */

struct seen {
    int64_t covered;
    int calls, wrong;
};

static lathe_status plain_step(void *self, const lathe_span *span) {
    struct seen *seen = self;
    seen->calls++;
    seen->covered += span->count;
    if (span->first < 5000 ? !(span->flags & LATHE_DECAYS) : span->flags & LATHE_DECAYS)
        seen->wrong++;
    for (int64_t i = 0; i < span->count; i++)
        span->weights[i] -= (float)(span->rate * span->scale) * span->gradients[i];
    return LATHE_OK;
}

static void step_covers_each_float_once(void **state) {
    (void)state;
    const lathe_optimizer_ops ops = {
        .size = sizeof ops, .flags = LATHE_ELEMENTWISE, .step = plain_step};
    const struct parameters all = {.groups = {{.decaying_end = 5000, .end = SIZE}},
                                   .group_count = 1,
                                   .size = SIZE};
    float *weights = malloc(SIZE * sizeof *weights), *one = NULL;
    float *gradients = malloc(SIZE * sizeof *gradients);
    for (int workers = 1; workers <= 5; workers++) {
        struct seen seen = {0};
        fill(weights, 1);
        fill(gradients, 2);
        const struct step_pass pass = {.parameters = &all,
                                       .ops = &ops,
                                       .optimizer = &seen,
                                       .weights = weights,
                                       .gradients = gradients,
                                       .scale = 0.5,
                                       .rate = 0.1,
                                       .clip_value = workers > 3 ? 1e9 : 0,
                                       .step = 1};
        for (int worker = 0; worker < workers; worker++)
            assert_int_equal(passes_step(&pass, worker, workers), LATHE_OK);
        assert_int_equal(seen.covered, SIZE);
        assert_int_equal(seen.wrong, 0);
        if (!one) {
            one = malloc(SIZE * sizeof *one);
            memcpy(one, weights, SIZE * sizeof *one);
        }
        if (workers <= 3) assert_memory_equal(one, weights, SIZE * sizeof *one);
    }
    free(weights);
    free(gradients);
    free(one);
}

static void clip_value_clamps_the_mean(void **state) {
    (void)state;
    const lathe_optimizer_ops ops = {
        .size = sizeof ops, .flags = LATHE_ELEMENTWISE, .step = plain_step};
    const struct parameters all = {
        .groups = {{.decaying_end = 3, .end = 3}}, .group_count = 1, .size = 16};
    struct seen seen = {0};
    float weights[3] = {0}, gradients[3] = {8, -8, 1};
    const struct step_pass pass = {.parameters = &all,
                                   .ops = &ops,
                                   .optimizer = &seen,
                                   .weights = weights,
                                   .gradients = gradients,
                                   .scale = 0.25,
                                   .rate = 1,
                                   .clip_value = 0.5};
    assert_int_equal(passes_step(&pass, 0, 1), LATHE_OK);
    assert_true(weights[0] == -0.5f && weights[1] == 0.5f && weights[2] == -0.25f);
}

static void buffers_move_towards_the_mean(void **state) {
    (void)state;
    struct parameter item = {.flags = LATHE_BUFFER, .count = 2, .rate = 0.25};
    const struct parameters all = {.items = &item, .count = 1, .size = 16};
    float buffer[2] = {1, 4}, statistic[2] = {12, 0};
    const struct step_pass pass = {.parameters = &all,
                                   .weights = buffer,
                                   .gradients = statistic,
                                   .mean = 0.25,
                                   .scale = 0.001};
    passes_buffers(&pass);
    assert_true(buffer[0] == 1.5f && buffer[1] == 3.0f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduce_is_the_tree),
        cmocka_unit_test(norm_is_right_whoever_adds),
        cmocka_unit_test(step_covers_each_float_once),
        cmocka_unit_test(clip_value_clamps_the_mean),
        cmocka_unit_test(buffers_move_towards_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
