/* SPDX-License-Identifier: MIT */
#include "check/optimizer_fixture.h"

#include <string.h>

#define COLUMNS 8 /* where spans are whole parameters: [n, 8] */
enum { PURPOSE_START = 400, PURPOSE_GRADIENT = 401 };

bool optimizer_fixture_are_elementwise(const struct optimizer_fixture *b) {
    return (b->ops->flags & LATHE_ELEMENTWISE) != 0;
}

int64_t optimizer_fixture_count(const struct optimizer_fixture *b) {
    return optimizer_fixture_are_elementwise(b) ? OPTIMIZER_FLOATS
                                                : OPTIMIZER_FLOATS / COLUMNS * COLUMNS;
}

bool optimizer_fixture_ask_slots(struct optimizer_fixture *b) {
    const char *const *names = NULL;
    check_doing(b->fixture->check, "slots");
    b->slot_count = b->ops->slots ? b->ops->slots(b->plugin.self, &names) : 0;
    if (b->slot_count < 0 || b->slot_count > PASS_SLOTS_MAX)
        return check_fail(b->fixture->check,
                          "it asks for %d slots; 0 to %d are possible", b->slot_count,
                          PASS_SLOTS_MAX);
    for (int i = 0; i < b->slot_count; i++)
        if (!names || !names[i] || !names[i][0])
            return check_fail(b->fixture->check, "slot %d has no name", i);
    return true;
}

void optimizer_fixture_reset(struct optimizer_fixture *b) {
    const struct fixture *fixture = b->fixture;
    for (int64_t i = 0; i < OPTIMIZER_FLOATS; i++)
        b->weights[i] = (float)check_normal(
            fixture->check, PURPOSE_START + 10 * (uint32_t)fixture->variation,
            (uint64_t)i);
    for (int i = 0; i < b->slot_count; i++)
        memset(b->slots[i], 0, OPTIMIZER_FLOATS * sizeof(float));
}

bool optimizer_fixture_open(struct optimizer_fixture *b, struct fixture *fixture) {
    *b = (struct optimizer_fixture){
        .fixture = fixture, .scale = 0.125, .rate = 1, .decays = true};
    if (!fixture_create(fixture, &b->plugin, NULL)) return false;
    b->ops = b->plugin.ops;
    if (!optimizer_fixture_ask_slots(b)) return false;
    b->weights = block_create(OPTIMIZER_FLOATS);
    b->gradients = block_create(OPTIMIZER_FLOATS);
    bool is_whole = b->weights && b->gradients;
    for (int i = 0; i < b->slot_count; i++)
        is_whole = (b->slots[i] = block_create(OPTIMIZER_FLOATS)) && is_whole;
    if (!is_whole) return check_fail(fixture->check, "out of memory");
    optimizer_fixture_reset(b);
    return true;
}

void optimizer_fixture_close(struct optimizer_fixture *b) {
    block_destroy(b->weights, OPTIMIZER_FLOATS);
    block_destroy(b->gradients, OPTIMIZER_FLOATS);
    for (int i = 0; i < PASS_SLOTS_MAX; i++)
        block_destroy(b->slots[i], OPTIMIZER_FLOATS);
    fixture_destroy(b->fixture, &b->plugin);
}

static double rate_of(const struct optimizer_fixture *b, int64_t update) {
    const struct fixture *fixture = b->fixture;
    const double lr = json_number(options_find(fixture->use->options, "lr"));
    return b->rate * lr / (double)(1 + update % 3 + fixture->variation);
}

void optimizer_fixture_draw(const struct optimizer_fixture *b, int64_t update,
                            float *gradients) {
    const struct fixture *fixture = b->fixture;
    for (int64_t i = 0; i < OPTIMIZER_FLOATS; i++)
        gradients[i] = (float)check_normal(
            fixture->check, PURPOSE_GRADIENT + 10 * (uint32_t)fixture->variation,
            (uint64_t)(update * OPTIMIZER_FLOATS + i));
}

void optimizer_fixture_begin(struct optimizer_fixture *b, int64_t update) {
    const struct fixture *fixture = b->fixture;
    check_doing(fixture->check, "begin of update %lld", (long long)update);
    if (b->ops->begin) b->ops->begin(b->plugin.self, update, rate_of(b, update));
}

lathe_status optimizer_fixture_step(const struct optimizer_fixture *b, int64_t update,
                                    int64_t first, int64_t count) {
    float *slots[PASS_SLOTS_MAX];
    const int64_t shape[] = {count / COLUMNS, COLUMNS};
    for (int i = 0; i < b->slot_count; i++) slots[i] = b->slots[i] + first;
    const lathe_span span = {
        .size = sizeof span,
        .flags = b->decays && first < OPTIMIZER_FLOATS / 2 ? LATHE_DECAYS : 0,
        .first = first,
        .count = count,
        .weights = b->weights + first,
        .gradients = b->gradients + first,
        .slots = slots,
        .scale = b->scale,
        .rate = rate_of(b, update),
        .step = update,
        .shape = optimizer_fixture_are_elementwise(b) ? NULL : shape,
        .rank = optimizer_fixture_are_elementwise(b) ? 0 : 2};
    return b->ops->step(b->plugin.self, &span);
}

void optimizer_fixture_begin_with(struct optimizer_fixture *b, int64_t update,
                                  float times) {
    optimizer_fixture_draw(b, update, b->gradients);
    for (int64_t i = 0; i < OPTIMIZER_FLOATS; i++) b->gradients[i] *= times;
    optimizer_fixture_begin(b, update);
}

bool optimizer_fixture_update(struct optimizer_fixture *b, int64_t update) {
    const int64_t middle = optimizer_fixture_middle(b),
                  end = optimizer_fixture_count(b);
    check_doing(b->fixture->check, "step of update %lld", (long long)update);
    lathe_status status = optimizer_fixture_step(b, update, 0, middle);
    if (status == LATHE_OK)
        status = optimizer_fixture_step(b, update, middle, end - middle);
    return fixture_went_well(b->fixture, &b->plugin, status, "step");
}

int64_t optimizer_fixture_middle(const struct optimizer_fixture *b) {
    return optimizer_fixture_are_elementwise(b)
               ? OPTIMIZER_FLOATS / 2
               : optimizer_fixture_count(b) / 2 / COLUMNS * COLUMNS;
}
