/* SPDX-License-Identifier: MIT */
#include "check/blocks.h"

#include <string.h>

#define COLUMNS 8 /* where spans are whole parameters: [n, 8] */
enum { PURPOSE_START = 400, PURPOSE_GRADIENT = 401 };

bool blocks_are_elementwise(const struct blocks *b) {
    return (b->ops->flags & LATHE_ELEMENTWISE) != 0;
}

int64_t blocks_count(const struct blocks *b) {
    return blocks_are_elementwise(b) ? BLOCKS_COUNT : BLOCKS_COUNT / COLUMNS * COLUMNS;
}

bool blocks_ask_slots(struct blocks *b) {
    const char *const *names = NULL;
    check_doing(b->bench->check, "slots");
    b->slot_count = b->ops->slots ? b->ops->slots(b->plugin.self, &names) : 0;
    if (b->slot_count < 0 || b->slot_count > PASS_SLOTS_MAX)
        return check_fail(b->bench->check, "it asks for %d slots; 0 to %d are possible",
                          b->slot_count, PASS_SLOTS_MAX);
    for (int i = 0; i < b->slot_count; i++)
        if (!names || !names[i] || !names[i][0])
            return check_fail(b->bench->check, "slot %d has no name", i);
    return true;
}

void blocks_reset(struct blocks *b) {
    const struct bench *bench = b->bench;
    for (int64_t i = 0; i < BLOCKS_COUNT; i++)
        b->weights[i] = (float)check_normal(
            bench->check, PURPOSE_START + 10 * (uint32_t)bench->variation, (uint64_t)i);
    for (int i = 0; i < b->slot_count; i++)
        memset(b->slots[i], 0, BLOCKS_COUNT * sizeof(float));
}

bool blocks_open(struct blocks *b, struct bench *bench) {
    *b = (struct blocks){.bench = bench, .scale = 0.125, .rate = 1, .decays = true};
    if (!bench_create(bench, &b->plugin, NULL)) return false;
    b->ops = b->plugin.ops;
    if (!blocks_ask_slots(b)) return false;
    b->weights = block_create(BLOCKS_COUNT);
    b->gradients = block_create(BLOCKS_COUNT);
    bool is_whole = b->weights && b->gradients;
    for (int i = 0; i < b->slot_count; i++)
        is_whole = (b->slots[i] = block_create(BLOCKS_COUNT)) && is_whole;
    if (!is_whole) return check_fail(bench->check, "out of memory");
    blocks_reset(b);
    return true;
}

void blocks_close(struct blocks *b) {
    block_destroy(b->weights, BLOCKS_COUNT);
    block_destroy(b->gradients, BLOCKS_COUNT);
    for (int i = 0; i < PASS_SLOTS_MAX; i++) block_destroy(b->slots[i], BLOCKS_COUNT);
    bench_destroy(b->bench, &b->plugin);
}

static double rate_of(const struct blocks *b, int64_t update) {
    const struct bench *bench = b->bench;
    const double lr = json_number(options_find(bench->use->options, "lr"));
    return b->rate * lr / (double)(1 + update % 3 + bench->variation);
}

void blocks_draw(const struct blocks *b, int64_t update, float *gradients) {
    const struct bench *bench = b->bench;
    for (int64_t i = 0; i < BLOCKS_COUNT; i++)
        gradients[i] = (float)check_normal(
            bench->check, PURPOSE_GRADIENT + 10 * (uint32_t)bench->variation,
            (uint64_t)(update * BLOCKS_COUNT + i));
}

void blocks_begin(struct blocks *b, int64_t update) {
    const struct bench *bench = b->bench;
    check_doing(bench->check, "begin of update %lld", (long long)update);
    if (b->ops->begin) b->ops->begin(b->plugin.self, update, rate_of(b, update));
}

lathe_status blocks_step(const struct blocks *b, int64_t update, int64_t first,
                         int64_t count) {
    float *slots[PASS_SLOTS_MAX];
    const int64_t shape[] = {count / COLUMNS, COLUMNS};
    for (int i = 0; i < b->slot_count; i++) slots[i] = b->slots[i] + first;
    const lathe_span span = {
        .size = sizeof span,
        .flags = b->decays && first < BLOCKS_COUNT / 2 ? LATHE_DECAYS : 0,
        .first = first,
        .count = count,
        .weights = b->weights + first,
        .gradients = b->gradients + first,
        .slots = slots,
        .scale = b->scale,
        .rate = rate_of(b, update),
        .step = update,
        .shape = blocks_are_elementwise(b) ? NULL : shape,
        .rank = blocks_are_elementwise(b) ? 0 : 2};
    return b->ops->step(b->plugin.self, &span);
}

void blocks_begin_with(struct blocks *b, int64_t update, float times) {
    blocks_draw(b, update, b->gradients);
    for (int64_t i = 0; i < BLOCKS_COUNT; i++) b->gradients[i] *= times;
    blocks_begin(b, update);
}

bool blocks_update(struct blocks *b, int64_t update) {
    const int64_t middle = blocks_middle(b), end = blocks_count(b);
    check_doing(b->bench->check, "step of update %lld", (long long)update);
    lathe_status status = blocks_step(b, update, 0, middle);
    if (status == LATHE_OK) status = blocks_step(b, update, middle, end - middle);
    return bench_went_well(b->bench, &b->plugin, status, "step");
}

int64_t blocks_middle(const struct blocks *b) {
    return blocks_are_elementwise(b) ? BLOCKS_COUNT / 2
                                     : blocks_count(b) / 2 / COLUMNS * COLUMNS;
}
