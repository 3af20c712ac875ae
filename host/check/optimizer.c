/* SPDX-License-Identifier: MIT */
/* Optimizers: an update is the same however the block is cut and whoever steps, and
 * nothing but the host's slots is kept between updates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/optimizer_fixture.h"
#include "check/tests.h"

#define CUTS_MAX 64
enum { PURPOSE_CUT = 402 };

/* The block in pieces that end where `cuts` say, one after the other or the last one
 * first. Decay stops in the middle, where every cutting cuts. */
static bool update_cut(struct optimizer_fixture *b, int64_t update, const int64_t *cuts,
                       int count, bool is_backwards) {
    check_doing(b->fixture->check, "step of update %lld", (long long)update);
    for (int i = 0; i < count; i++) {
        const int at = is_backwards ? count - 1 - i : i;
        const int64_t first = at ? cuts[at - 1] : 0;
        lathe_status status =
            optimizer_fixture_step(b, update, first, cuts[at] - first);
        if (!fixture_went_well(b->fixture, &b->plugin, status, "step")) return false;
    }
    return true;
}

static void write(const struct optimizer_fixture *b, struct text *lines) {
    fixture_write(lines, "weight", b->weights, optimizer_fixture_count(b));
    for (int i = 0; i < b->slot_count; i++)
        fixture_write_bytes(lines, "slot", b->slots[i], optimizer_fixture_count(b) * 4);
}

static bool is_finite(const struct optimizer_fixture *b, const char *when) {
    for (int64_t i = 0; i < optimizer_fixture_count(b); i++)
        if (!isfinite(b->weights[i]))
            return check_fail(b->fixture->check, "a weight is %g after %s",
                              (double)b->weights[i], when);
    for (int j = 0; j < b->slot_count; j++)
        for (int64_t i = 0; i < optimizer_fixture_count(b); i++)
            if (!isfinite(b->slots[j][i]))
                return check_fail(b->fixture->check, "slot %d has %g after %s", j,
                                  (double)b->slots[j][i], when);
    return true;
}

static bool work(struct optimizer_fixture *b, struct text *lines) {
    for (int64_t update = 1; update <= OPTIMIZER_UPDATES; update++) {
        optimizer_fixture_begin_with(b, update, 1);
        fixture_pause(b->fixture);
        if (!optimizer_fixture_update(b, update)) return false;
    }
    write(b, lines);
    return is_finite(b, "some updates");
}

bool optimizer_work(struct fixture *fixture, struct text *lines) {
    struct optimizer_fixture b;
    const bool is_done = optimizer_fixture_open(&b, fixture) && work(&b, lines);
    optimizer_fixture_close(&b);
    return is_done;
}

/* ---- spans ---- */

static int cut_at_random(const struct optimizer_fixture *b, int64_t update,
                         int64_t cuts[CUTS_MAX]) {
    int count = 0;
    for (int64_t at = 0; at < OPTIMIZER_FLOATS;) {
        const uint32_t draw = check_draw(b->fixture->check, PURPOSE_CUT,
                                         (uint64_t)(update * CUTS_MAX + count));
        const int64_t size =
            count == CUTS_MAX - 1 ? OPTIMIZER_FLOATS : 1 + draw % (draw % 5 ? 7 : 90);
        int64_t end = at + size < OPTIMIZER_FLOATS ? at + size : OPTIMIZER_FLOATS;
        if (at < optimizer_fixture_middle(b) && end > optimizer_fixture_middle(b))
            end = optimizer_fixture_middle(b);
        if (count == CUTS_MAX - 2 && end < optimizer_fixture_middle(b))
            end = optimizer_fixture_middle(b);
        cuts[count++] = at = end;
    }
    return count;
}

static bool cut_and_compare(struct fixture *fixture, const struct text *expected,
                            int way) {
    static const char *const ways[] = {"cut at random places", "the last span first"};
    struct optimizer_fixture b;
    struct text lines = {0};
    char difference[300];
    int64_t cuts[CUTS_MAX];
    bool is_well = optimizer_fixture_open(&b, fixture);
    for (int64_t update = 1; is_well && update <= OPTIMIZER_UPDATES; update++) {
        optimizer_fixture_begin_with(&b, update, 1);
        const int count = cut_at_random(&b, update, cuts);
        is_well = update_cut(&b, update, cuts, count, way == 1);
    }
    if (is_well) write(&b, &lines);
    if (is_well && check_differ(expected, &lines, difference, sizeof difference))
        is_well = check_fail(fixture->check, "%s, the update has other bits: %s",
                             ways[way], difference);
    text_finish(&lines);
    optimizer_fixture_close(&b);
    return is_well;
}

void test_optimizer_spans(struct check *check) {
    struct fixture fixture;
    struct text lines = {0};
    if (!fixture_open(&fixture, check, NULL, NULL)) return;
    struct optimizer_fixture b;
    bool is_well = optimizer_fixture_open(&b, &fixture) && work(&b, &lines);
    const bool is_free = is_well && optimizer_fixture_are_elementwise(&b);
    optimizer_fixture_close(&b);
    if (is_well && !is_free)
        check_note(check, "it takes whole parameters, so nothing is cut");
    for (int way = 0; is_free && is_well && way < 2; way++)
        is_well = cut_and_compare(&fixture, &lines, way);
    if (is_free && is_well) optimizer_fixture_share(&fixture);
    text_finish(&lines);
    fixture_close(&fixture);
}

/* ---- resume ---- */

/* Another instance goes on with the slots after some updates. */
static bool hand_over(struct fixture *fixture, struct text *lines) {
    struct optimizer_fixture b;
    bool is_well = optimizer_fixture_open(&b, fixture);
    for (int64_t update = 1; is_well && update <= OPTIMIZER_UPDATES; update++) {
        if (update == OPTIMIZER_UPDATES / 2) {
            fixture_destroy(fixture, &b.plugin);
            is_well = fixture_create(fixture, &b.plugin, NULL) &&
                      optimizer_fixture_ask_slots(&b);
            if (!is_well) break;
        }
        optimizer_fixture_begin_with(&b, update, 1);
        is_well = optimizer_fixture_update(&b, update);
    }
    if (is_well) write(&b, lines);
    optimizer_fixture_close(&b);
    return is_well;
}

void test_optimizer_resume(struct check *check) {
    struct text whole = {0}, resumed = {0};
    struct fixture fixture;
    char difference[300];
    if (!fixture_open(&fixture, check, NULL, NULL)) return;
    if (optimizer_work(&fixture, &whole) && hand_over(&fixture, &resumed) &&
        check_differ(&whole, &resumed, difference, sizeof difference))
        check_fail(check,
                   "an instance that goes on with the slots of another one makes "
                   "another update: %s",
                   difference);
    text_finish(&whole);
    text_finish(&resumed);
    fixture_close(&fixture);
}

/* ---- no gradient ---- */

static bool without_gradients(struct optimizer_fixture *b) {
    static const char *const cases[] = {"updates without a gradient",
                                        "updates with huge gradients",
                                        "updates with tiny gradients"};
    static const float sizes[] = {0, 1e15f, 1e-30f};
    for (int i = 0; i < 3; i++) {
        for (int64_t update = 1; update <= OPTIMIZER_UPDATES; update++) {
            optimizer_fixture_begin_with(b, update, sizes[i]);
            if (!optimizer_fixture_update(b, update)) return false;
        }
        if (!is_finite(b, cases[i])) return false;
        for (int j = 0; j < b->slot_count; j++)
            memset(b->slots[j], 0, OPTIMIZER_FLOATS * sizeof(float));
    }
    return true;
}

void test_optimizer_finite(struct check *check) {
    struct fixture fixture;
    struct optimizer_fixture b;
    if (!fixture_open(&fixture, check, NULL, NULL)) return;
    if (optimizer_fixture_open(&b, &fixture)) without_gradients(&b);
    optimizer_fixture_close(&b);
    fixture_close(&fixture);
}
