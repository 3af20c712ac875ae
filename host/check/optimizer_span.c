/* SPDX-License-Identifier: MIT */
/* Optimizers: what a span says is heeded: its scale, its rate, and whether its weights
 * decay. */
#include <math.h>
#include <string.h>

#include "check/optimizer_fixture.h"
#include "check/tests.h"

/* How updates are made; what they lead to, written as lines. */
struct way {
    double scale, rate;
    float times; /* of the gradients */
    bool decays;
};

static bool update_so(struct fixture *fixture, const struct way *way,
                      struct text *lines) {
    struct optimizer_fixture b;
    bool is_well = optimizer_fixture_open(&b, fixture);
    b.scale = way->scale;
    b.rate = way->rate;
    b.decays = way->decays;
    for (int64_t update = 1; is_well && update <= OPTIMIZER_UPDATES; update++) {
        optimizer_fixture_begin_with(&b, update, way->times);
        is_well = optimizer_fixture_update(&b, update);
    }
    if (is_well) fixture_write(lines, "weight", b.weights, optimizer_fixture_count(&b));
    optimizer_fixture_close(&b);
    return is_well;
}

/* ---- scale ---- */

/* Powers of two move from the gradients to the scale, and no bit is lost. With the
 * large one, what is added to a root so as not to divide by 0 tells them apart. */
static bool move_scale(struct fixture *fixture, int exponent) {
    struct text large = {0}, small = {0};
    char difference[300];
    const double factor = ldexp(1, exponent);
    const struct way first = {1 / factor, 1, 1, true};
    const struct way second = {1, 1, (float)(1 / factor), true};
    bool is_well =
        update_so(fixture, &first, &large) && update_so(fixture, &second, &small);
    if (is_well && check_differ(&small, &large, difference, sizeof difference))
        is_well = check_fail(fixture->check,
                             "gradients %g times as large, with a scale of 1/%g, make "
                             "another update: %s; it is gradient * span->scale that "
                             "counts",
                             factor, factor, difference);
    text_finish(&large);
    text_finish(&small);
    return is_well;
}

void test_optimizer_scale(struct check *check) {
    struct fixture fixture;
    if (!fixture_open(&fixture, check, NULL, NULL)) return;
    if (move_scale(&fixture, 1)) move_scale(&fixture, 27);
    fixture_close(&fixture);
}

#define DECAY "weight_decay" /* the option of that name, as all call it */

/* ---- rate ---- */

static bool write_start(struct fixture *fixture, struct text *lines) {
    struct optimizer_fixture b;
    const bool is_well = optimizer_fixture_open(&b, fixture);
    if (is_well) fixture_write(lines, "weight", b.weights, optimizer_fixture_count(&b));
    optimizer_fixture_close(&b);
    return is_well;
}

static void compare_rates(struct fixture *fixture, struct text lines[3]) {
    const struct way some = {1, 1, 1, true}, none = {1, 0, 1, true};
    char difference[300];
    if (!write_start(fixture, &lines[0]) || !update_so(fixture, &some, &lines[1]) ||
        !update_so(fixture, &none, &lines[2]) ||
        !check_differ(&lines[0], &lines[2], difference, sizeof difference))
        return;
    if (!check_differ(&lines[1], &lines[2], difference, sizeof difference))
        check_fail(fixture->check, "with a rate of 0 it makes the same update as with "
                                   "another: span->rate is ignored");
    else if (check_differ(&lines[0], &lines[2], difference, sizeof difference))
        check_warn(fixture->check, "with a rate of 0 it changes weights: %s",
                   difference);
}

/* With weight decay, if it has some: that goes by the rate, too. */
static struct json *options_with_decay(const struct check *check, double decay) {
    struct json *options = json_clone(check->subject->options);
    const bool has_some = json_get(check->subject->manifest->options, DECAY) != NULL;
    if (options && has_some) json_put(options, DECAY, json_make_number(decay));
    return options;
}

void test_optimizer_rate(struct check *check) {
    struct json *options = options_with_decay(check, 0.125);
    const struct setup setup = {.options = options};
    struct error err = {0};
    struct fixture fixture;
    struct text lines[3] = {{0}};
    if (fixture_open(&fixture, check, &setup, &err) ||
        fixture_open(&fixture, check, NULL, NULL)) {
        compare_rates(&fixture, lines);
        fixture_close(&fixture);
    }
    for (int i = 0; i < 3; i++) text_finish(&lines[i]);
    json_close(options);
}

/* ---- decay ---- */

/* False: it is refused, or the updates fail. */
static bool update_with_decay(struct check *check, double decay, bool decays,
                              struct text *lines) {
    struct json *options = options_with_decay(check, decay);
    const struct way way = {1, 1, 1, decays};
    const struct setup setup = {.options = options};
    struct error err = {0};
    struct fixture fixture;
    bool is_well = options && fixture_open(&fixture, check, &setup, &err);
    if (is_well) {
        fixture.refusal = &err;
        is_well = update_so(&fixture, &way, lines);
        fixture_close(&fixture);
    }
    json_close(options);
    return is_well;
}

static void compare_decays(struct check *check, struct text lines[3]) {
    char difference[300];
    if (!update_with_decay(check, 0, false, &lines[0]) ||
        !update_with_decay(check, 0.125, false, &lines[1]) ||
        !update_with_decay(check, 0.125, true, &lines[2])) {
        if (!check_is_failed(check))
            check_note(check, "it does not take " DECAY " 0 and 0.125");
    } else if (check_differ(&lines[0], &lines[1], difference, sizeof difference)) {
        check_fail(check,
                   DECAY " changes weights where span->flags is without LATHE_DECAYS: "
                         "%s",
                   difference);
    } else if (!check_differ(&lines[1], &lines[2], difference, sizeof difference)) {
        check_warn(check, DECAY " changes nothing, with LATHE_DECAYS or without");
    }
}

void test_optimizer_decay(struct check *check) {
    struct text lines[3] = {{0}};
    if (!json_get(check->subject->manifest->options, DECAY)) {
        check_note(check, "it has no option \"" DECAY "\"");
        return;
    }
    compare_decays(check, lines);
    for (int i = 0; i < 3; i++) text_finish(&lines[i]);
}
