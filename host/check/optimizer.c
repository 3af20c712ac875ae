/* SPDX-License-Identifier: MIT */
/* Optimizers: an update is the same however the block is cut and whoever steps, and
 * nothing but the host's slots is kept between updates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/blocks.h"
#include "check/tests.h"

#define CUTS_MAX 64
enum { PURPOSE_CUT = 402 };

/* The block in pieces that end where `cuts` say, one after the other or the last one
 * first. Decay stops in the middle, where every cutting cuts. */
static bool update_cut(struct blocks *b, int64_t update, const int64_t *cuts, int count,
                       bool is_backwards) {
    check_doing(b->bench->check, "step of update %lld", (long long)update);
    for (int i = 0; i < count; i++) {
        const int at = is_backwards ? count - 1 - i : i;
        const int64_t first = at ? cuts[at - 1] : 0;
        lathe_status status = blocks_step(b, update, first, cuts[at] - first);
        if (!bench_went_well(b->bench, &b->plugin, status, "step")) return false;
    }
    return true;
}

static void write(const struct blocks *b, struct text *lines) {
    bench_write(lines, "weight", b->weights, blocks_count(b));
    for (int i = 0; i < b->slot_count; i++)
        bench_write_bytes(lines, "slot", b->slots[i], blocks_count(b) * 4);
}

static bool is_finite(const struct blocks *b, const char *when) {
    for (int64_t i = 0; i < blocks_count(b); i++)
        if (!isfinite(b->weights[i]))
            return check_fail(b->bench->check, "a weight is %g after %s",
                              (double)b->weights[i], when);
    for (int j = 0; j < b->slot_count; j++)
        for (int64_t i = 0; i < blocks_count(b); i++)
            if (!isfinite(b->slots[j][i]))
                return check_fail(b->bench->check, "slot %d has %g after %s", j,
                                  (double)b->slots[j][i], when);
    return true;
}

static bool work(struct blocks *b, struct text *lines) {
    for (int64_t update = 1; update <= BLOCKS_UPDATES; update++) {
        blocks_begin_with(b, update, 1);
        bench_pause(b->bench);
        if (!blocks_update(b, update)) return false;
    }
    write(b, lines);
    return is_finite(b, "some updates");
}

bool optimizer_work(struct bench *bench, struct text *lines) {
    struct blocks b;
    const bool is_done = blocks_open(&b, bench) && work(&b, lines);
    blocks_close(&b);
    return is_done;
}

/* ---- spans ---- */

static int cut_at_random(const struct blocks *b, int64_t update,
                         int64_t cuts[CUTS_MAX]) {
    int count = 0;
    for (int64_t at = 0; at < BLOCKS_COUNT;) {
        const uint32_t draw = check_draw(b->bench->check, PURPOSE_CUT,
                                         (uint64_t)(update * CUTS_MAX + count));
        const int64_t size =
            count == CUTS_MAX - 1 ? BLOCKS_COUNT : 1 + draw % (draw % 5 ? 7 : 90);
        int64_t end = at + size < BLOCKS_COUNT ? at + size : BLOCKS_COUNT;
        if (at < blocks_middle(b) && end > blocks_middle(b)) end = blocks_middle(b);
        if (count == CUTS_MAX - 2 && end < blocks_middle(b)) end = blocks_middle(b);
        cuts[count++] = at = end;
    }
    return count;
}

static bool cut_and_compare(struct bench *bench, const struct text *expected, int way) {
    static const char *const ways[] = {"cut at random places", "the last span first"};
    struct blocks b;
    struct text lines = {0};
    char difference[300];
    int64_t cuts[CUTS_MAX];
    bool is_well = blocks_open(&b, bench);
    for (int64_t update = 1; is_well && update <= BLOCKS_UPDATES; update++) {
        blocks_begin_with(&b, update, 1);
        const int count = cut_at_random(&b, update, cuts);
        is_well = update_cut(&b, update, cuts, count, way == 1);
    }
    if (is_well) write(&b, &lines);
    if (is_well && check_differ(expected, &lines, difference, sizeof difference))
        is_well = check_fail(bench->check, "%s, the update has other bits: %s",
                             ways[way], difference);
    text_finish(&lines);
    blocks_close(&b);
    return is_well;
}

void test_optimizer_spans(struct check *check) {
    struct bench bench;
    struct text lines = {0};
    if (!bench_open(&bench, check, NULL, NULL)) return;
    struct blocks b;
    bool is_well = blocks_open(&b, &bench) && work(&b, &lines);
    const bool is_free = is_well && blocks_are_elementwise(&b);
    blocks_close(&b);
    if (is_well && !is_free)
        check_note(check, "it takes whole parameters, so nothing is cut");
    for (int way = 0; is_free && is_well && way < 2; way++)
        is_well = cut_and_compare(&bench, &lines, way);
    if (is_free && is_well) blocks_share(&bench);
    text_finish(&lines);
    bench_close(&bench);
}

/* ---- resume ---- */

/* Another instance goes on with the slots after some updates. */
static bool hand_over(struct bench *bench, struct text *lines) {
    struct blocks b;
    bool is_well = blocks_open(&b, bench);
    for (int64_t update = 1; is_well && update <= BLOCKS_UPDATES; update++) {
        if (update == BLOCKS_UPDATES / 2) {
            bench_destroy(bench, &b.plugin);
            is_well = bench_create(bench, &b.plugin, NULL) && blocks_ask_slots(&b);
            if (!is_well) break;
        }
        blocks_begin_with(&b, update, 1);
        is_well = blocks_update(&b, update);
    }
    if (is_well) write(&b, lines);
    blocks_close(&b);
    return is_well;
}

void test_optimizer_resume(struct check *check) {
    struct text whole = {0}, resumed = {0};
    struct bench bench;
    char difference[300];
    if (!bench_open(&bench, check, NULL, NULL)) return;
    if (optimizer_work(&bench, &whole) && hand_over(&bench, &resumed) &&
        check_differ(&whole, &resumed, difference, sizeof difference))
        check_fail(check,
                   "an instance that goes on with the slots of another one makes "
                   "another update: %s",
                   difference);
    text_finish(&whole);
    text_finish(&resumed);
    bench_close(&bench);
}

/* ---- no gradient ---- */

static bool without_gradients(struct blocks *b) {
    static const char *const cases[] = {"updates without a gradient",
                                        "updates with huge gradients",
                                        "updates with tiny gradients"};
    static const float sizes[] = {0, 1e15f, 1e-30f};
    for (int i = 0; i < 3; i++) {
        for (int64_t update = 1; update <= BLOCKS_UPDATES; update++) {
            blocks_begin_with(b, update, sizes[i]);
            if (!blocks_update(b, update)) return false;
        }
        if (!is_finite(b, cases[i])) return false;
        for (int j = 0; j < b->slot_count; j++)
            memset(b->slots[j], 0, BLOCKS_COUNT * sizeof(float));
    }
    return true;
}

void test_optimizer_finite(struct check *check) {
    struct bench bench;
    struct blocks b;
    if (!bench_open(&bench, check, NULL, NULL)) return;
    if (blocks_open(&b, &bench)) without_gradients(&b);
    blocks_close(&b);
    bench_close(&bench);
}
