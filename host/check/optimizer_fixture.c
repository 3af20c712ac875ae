/* SPDX-License-Identifier: MIT */
#include "check/optimizer_fixture.h"

#include <string.h>

#define COLUMNS 8 /* where spans are whole parameters: [n, 8] */
enum { PURPOSE_START = 400, PURPOSE_GRADIENT = 401 };

bool optimizer_fixture_are_elementwise(const struct optimizer_fixture *optimizer) {
    return (optimizer->ops->flags & LATHE_ELEMENTWISE) != 0;
}

int64_t optimizer_fixture_count(const struct optimizer_fixture *optimizer) {
    return optimizer_fixture_are_elementwise(optimizer)
               ? OPTIMIZER_FLOATS
               : OPTIMIZER_FLOATS / COLUMNS * COLUMNS;
}

bool optimizer_fixture_ask_slots(struct optimizer_fixture *optimizer) {
    const char *const *names = NULL;
    check_doing(optimizer->fixture->check, "slots");
    optimizer->slot_count = optimizer->ops->slots
                                ? optimizer->ops->slots(optimizer->plugin.self, &names)
                                : 0;
    if (optimizer->slot_count < 0 || optimizer->slot_count > PASS_SLOTS_MAX)
        return check_fail(optimizer->fixture->check,
                          "it asks for %d slots; 0 to %d are possible",
                          optimizer->slot_count, PASS_SLOTS_MAX);
    for (int i = 0; i < optimizer->slot_count; i++)
        if (!names || !names[i] || !names[i][0])
            return check_fail(optimizer->fixture->check, "slot %d has no name", i);
    return true;
}

void optimizer_fixture_reset(struct optimizer_fixture *optimizer) {
    const struct fixture *fixture = optimizer->fixture;
    for (int64_t i = 0; i < OPTIMIZER_FLOATS; i++)
        optimizer->weights[i] = (float)check_normal(
            fixture->check, PURPOSE_START + 10 * (uint32_t)fixture->variation,
            (uint64_t)i);
    for (int i = 0; i < optimizer->slot_count; i++)
        memset(optimizer->slots[i], 0, OPTIMIZER_FLOATS * sizeof(float));
}

bool optimizer_fixture_open(struct optimizer_fixture *optimizer,
                            struct fixture *fixture) {
    *optimizer = (struct optimizer_fixture){
        .fixture = fixture, .scale = 0.125, .rate = 1, .decays = true};
    if (!fixture_create(fixture, &optimizer->plugin, NULL)) return false;
    optimizer->ops = optimizer->plugin.ops;
    if (!optimizer_fixture_ask_slots(optimizer)) return false;
    optimizer->weights = block_create(OPTIMIZER_FLOATS);
    optimizer->gradients = block_create(OPTIMIZER_FLOATS);
    bool is_whole = optimizer->weights && optimizer->gradients;
    for (int i = 0; i < optimizer->slot_count; i++)
        is_whole = (optimizer->slots[i] = block_create(OPTIMIZER_FLOATS)) && is_whole;
    if (!is_whole) return check_fail(fixture->check, "out of memory");
    optimizer_fixture_reset(optimizer);
    return true;
}

void optimizer_fixture_close(struct optimizer_fixture *optimizer) {
    block_destroy(optimizer->weights, OPTIMIZER_FLOATS);
    block_destroy(optimizer->gradients, OPTIMIZER_FLOATS);
    for (int i = 0; i < PASS_SLOTS_MAX; i++)
        block_destroy(optimizer->slots[i], OPTIMIZER_FLOATS);
    fixture_destroy(optimizer->fixture, &optimizer->plugin);
}

static double rate_of(const struct optimizer_fixture *optimizer, int64_t update) {
    const struct fixture *fixture = optimizer->fixture;
    const double lr = json_number(options_find(fixture->use->options, "lr"));
    return optimizer->rate * lr / (double)(1 + update % 3 + fixture->variation);
}

void optimizer_fixture_draw(const struct optimizer_fixture *optimizer, int64_t update,
                            float *gradients) {
    const struct fixture *fixture = optimizer->fixture;
    for (int64_t i = 0; i < OPTIMIZER_FLOATS; i++)
        gradients[i] = (float)check_normal(
            fixture->check, PURPOSE_GRADIENT + 10 * (uint32_t)fixture->variation,
            (uint64_t)(update * OPTIMIZER_FLOATS + i));
}

void optimizer_fixture_begin(struct optimizer_fixture *optimizer, int64_t update) {
    const struct fixture *fixture = optimizer->fixture;
    check_doing(fixture->check, "begin of update %lld", (long long)update);
    if (optimizer->ops->begin)
        optimizer->ops->begin(optimizer->plugin.self, update,
                              rate_of(optimizer, update));
}

lathe_status optimizer_fixture_step(const struct optimizer_fixture *optimizer,
                                    int64_t update, int64_t first, int64_t count) {
    float *slots[PASS_SLOTS_MAX];
    const int64_t shape[] = {count / COLUMNS, COLUMNS};
    for (int i = 0; i < optimizer->slot_count; i++)
        slots[i] = optimizer->slots[i] + first;
    const lathe_span span = {
        .size = sizeof span,
        .flags = optimizer->decays && first < OPTIMIZER_FLOATS / 2 ? LATHE_DECAYS : 0,
        .first = first,
        .count = count,
        .weights = optimizer->weights + first,
        .gradients = optimizer->gradients + first,
        .slots = slots,
        .scale = optimizer->scale,
        .rate = rate_of(optimizer, update),
        .step = update,
        .shape = optimizer_fixture_are_elementwise(optimizer) ? NULL : shape,
        .rank = optimizer_fixture_are_elementwise(optimizer) ? 0 : 2};
    return optimizer->ops->step(optimizer->plugin.self, &span);
}

void optimizer_fixture_begin_with(struct optimizer_fixture *optimizer, int64_t update,
                                  float times) {
    optimizer_fixture_draw(optimizer, update, optimizer->gradients);
    for (int64_t i = 0; i < OPTIMIZER_FLOATS; i++) optimizer->gradients[i] *= times;
    optimizer_fixture_begin(optimizer, update);
}

bool optimizer_fixture_update(struct optimizer_fixture *optimizer, int64_t update) {
    const int64_t middle = optimizer_fixture_middle(optimizer),
                  end = optimizer_fixture_count(optimizer);
    check_doing(optimizer->fixture->check, "step of update %lld", (long long)update);
    lathe_status status = optimizer_fixture_step(optimizer, update, 0, middle);
    if (status == LATHE_OK)
        status = optimizer_fixture_step(optimizer, update, middle, end - middle);
    return fixture_went_well(optimizer->fixture, &optimizer->plugin, status, "step");
}

int64_t optimizer_fixture_middle(const struct optimizer_fixture *optimizer) {
    return optimizer_fixture_are_elementwise(optimizer)
               ? OPTIMIZER_FLOATS / 2
               : optimizer_fixture_count(optimizer) / 2 / COLUMNS * COLUMNS;
}
