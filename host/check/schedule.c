/* SPDX-License-Identifier: MIT */
/* Schedules: a factor is a function of progress and of what was observed, and nothing
 * else. */
#include <math.h>
#include <string.h>

#include "check/state.h"
#include "check/tests.h"

#define POINTS 41
#define HORIZON 400

struct curve {
    struct fixture *fixture;
    struct plugin plugin;
    const lathe_schedule_ops *ops;
};

static lathe_progress at_step(int64_t step, int64_t steps) {
    return (lathe_progress){.size = sizeof(lathe_progress),
                            .step = step,
                            .steps = steps,
                            .steps_per_epoch = 10};
}

static double factor(const struct curve *c, int64_t step) {
    const lathe_progress progress = at_step(step, HORIZON);
    check_doing(c->fixture->check, "factor at step %lld of %d", (long long)step,
                HORIZON);
    return c->ops->factor(c->plugin.self, &progress);
}

static void observe(const struct curve *c, int64_t step, double value) {
    const lathe_progress progress = at_step(step, HORIZON);
    check_doing(c->fixture->check, "observe at step %lld", (long long)step);
    if (c->ops->observe) c->ops->observe(c->plugin.self, &progress, value);
}

static bool open_curve(struct curve *c, struct fixture *fixture) {
    *c = (struct curve){.fixture = fixture};
    if (!fixture_create(fixture, &c->plugin, NULL)) return false;
    c->ops = c->plugin.ops;
    return true;
}

/* A metric that improves, and then does not. */
static double metric_at(const struct fixture *fixture, int64_t i) {
    return (i < 4 ? 3.0 - 0.5 * (double)i : 1.5 + 0.01 * (double)i) +
           (double)fixture->variation;
}

static bool work(struct curve *c, struct text *lines) {
    for (int64_t i = 0; i < POINTS; i++) {
        const int64_t step = i * HORIZON / (POINTS - 1);
        observe(c, step, metric_at(c->fixture, i));
        fixture_pause(c->fixture);
        const double found = factor(c, step);
        char name[48];
        snprintf(name, sizeof name, "factor at step %lld", (long long)step);
        fixture_write_number(lines, name, found);
        if (!(found >= 0) || !isfinite(found))
            return check_fail(c->fixture->check,
                              "%s of %d is %g; it must be finite and >= 0", name,
                              HORIZON, found);
    }
    return fixture_went_well(c->fixture, &c->plugin, LATHE_OK, "factor");
}

bool schedule_work(struct fixture *fixture, struct text *lines) {
    struct curve c;
    const bool is_done = open_curve(&c, fixture) && work(&c, lines);
    fixture_destroy(fixture, &c.plugin);
    return is_done;
}

void schedule_observe_some(struct fixture *fixture, struct plugin *plugin) {
    const struct curve c = {.fixture = fixture, .plugin = *plugin, .ops = plugin->ops};
    for (int64_t i = 0; i < 6; i++) observe(&c, i, metric_at(fixture, i));
}

/* ---- resume ---- */

static bool go_on(struct curve *c, struct curve *next) {
    const lathe_any_ops *ops = c->plugin.ops;
    struct text state = {0};
    bool is_well = open_curve(next, c->fixture);
    if (is_well && ops->save && ops->load) {
        is_well = state_save(c->fixture, &c->plugin, &state);
        const lathe_status status =
            is_well ? state_load(c->fixture, &next->plugin, state.data, state.length)
                    : 0;
        is_well =
            is_well && fixture_went_well(c->fixture, &next->plugin, status, "load");
    }
    text_finish(&state);
    return is_well;
}

static bool compare_to_end(struct curve *c, struct curve *next, int64_t from) {
    for (int64_t i = from; i < POINTS; i++) {
        const int64_t step = i * HORIZON / (POINTS - 1);
        observe(c, step, metric_at(c->fixture, i));
        observe(next, step, metric_at(c->fixture, i));
        const double expected = factor(c, step), found = factor(next, step);
        if (!check_same(&expected, &found, sizeof found))
            return check_fail(
                c->fixture->check,
                "saved at observation %lld and loaded, the factor at step "
                "%lld is %.17g, not %.17g",
                (long long)from, (long long)step, found, expected);
    }
    return true;
}

void test_schedule_resume(struct check *check) {
    struct fixture fixture;
    bool is_well = true;
    if (!fixture_open(&fixture, check, NULL, NULL)) return;
    for (int64_t from = 0; is_well && from < POINTS; from += 6) {
        struct curve c, next = {.fixture = &fixture};
        is_well = open_curve(&c, &fixture);
        for (int64_t i = 0; is_well && i < from; i++)
            observe(&c, i * HORIZON / (POINTS - 1), metric_at(&fixture, i));
        is_well = is_well && go_on(&c, &next) && compare_to_end(&c, &next, from);
        fixture_destroy(&fixture, &next.plugin);
        fixture_destroy(&fixture, &c.plugin);
    }
    fixture_close(&fixture);
}

/* ---- purity ---- */

static bool ask_in_any_order(const struct curve *c) {
    double forward[HORIZON + 1];
    for (int64_t i = 0; i <= HORIZON; i++) forward[i] = factor(c, i);
    for (int64_t n = 0; n < 3 * HORIZON; n++) {
        const int64_t i = n * 7919 % (HORIZON + 1);
        const double again = factor(c, i);
        if (!check_same(&again, &forward[i], sizeof again))
            return check_fail(
                c->fixture->check,
                "the factor of step %lld was %.17g and is %.17g when it is "
                "asked for again: it is to depend on progress alone, until observe",
                (long long)i, forward[i], again);
    }
    return true;
}

/* Another instance that is asked once, in the middle of a run, says the same. */
static bool ask_at_once(struct fixture *fixture, const struct curve *c) {
    struct curve fresh;
    bool is_well = open_curve(&fresh, fixture);
    const double expected = factor(c, 123), found = is_well ? factor(&fresh, 123) : 0;
    if (is_well && !check_same(&expected, &found, sizeof found))
        is_well =
            check_fail(fixture->check,
                       "the factor of step 123 is %.17g, and %.17g for an instance "
                       "that was not asked before",
                       expected, found);
    fixture_destroy(fixture, &fresh.plugin);
    return is_well;
}

void test_schedule_purity(struct check *check) {
    struct fixture fixture;
    struct curve c;
    if (!fixture_open(&fixture, check, NULL, NULL)) return;
    if (open_curve(&c, &fixture) && ask_in_any_order(&c) && ask_at_once(&fixture, &c)) {
        for (int64_t i = 0; i < 6; i++) observe(&c, i, metric_at(&fixture, i));
        ask_in_any_order(&c);
    }
    fixture_destroy(&fixture, &c.plugin);
    fixture_close(&fixture);
}

/* ---- range ---- */

static bool in_range(const struct curve *c, int64_t step, int64_t steps,
                     int64_t steps_per_epoch) {
    lathe_progress progress = at_step(step, steps);
    progress.steps_per_epoch = steps_per_epoch;
    check_doing(c->fixture->check, "factor at step %lld of %lld", (long long)step,
                (long long)steps);
    const double found = c->ops->factor(c->plugin.self, &progress);
    if (found >= 0 && isfinite(found)) return true;
    return check_fail(
        c->fixture->check,
        "the factor at step %lld of %lld is %g; it must be finite and >= 0",
        (long long)step, (long long)steps, found);
}

static bool over_runs(const struct curve *c) {
    static const int64_t lengths[] = {1, 2, 3, 10, 1000, 1000003, (int64_t)1 << 53};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const int64_t n = lengths[i];
        const int64_t steps[] = {0, 1, n / 3, n / 2, n - 1, n, n + 1};
        for (size_t j = 0; j < sizeof steps / sizeof *steps; j++)
            if (steps[j] <= n + 1 && !in_range(c, steps[j], n, 10)) return false;
    }
    if (c->ops->flags & LATHE_NEEDS_HORIZON) return true;
    for (int64_t step = 0; step < 100000; step = 3 * step + 1)
        if (!in_range(c, step, 0, 0)) return false;
    return true;
}

static bool after_observations(const struct curve *c) {
    const double values[] = {1, NAN, HUGE_VAL, -HUGE_VAL, 0, 1e300, -1e300};
    for (int64_t i = 0; c->ops->observe && i < 49; i++) {
        observe(c, i, values[i % 7]);
        if (!in_range(c, i, HORIZON, 10)) return false;
    }
    return true;
}

void test_schedule_range(struct check *check) {
    struct fixture fixture;
    struct curve c;
    if (!fixture_open(&fixture, check, NULL, NULL)) return;
    if (open_curve(&c, &fixture) && over_runs(&c) && after_observations(&c))
        fixture_went_well(&fixture, &c.plugin, LATHE_OK, "factor");
    fixture_destroy(&fixture, &c.plugin);
    fixture_close(&fixture);
}
