/* SPDX-License-Identifier: MIT */
/* Lowers the rate when a metric has not improved for `patience` validations in a row:
 * state is best, how many since (stale), how many to sit out (cooling), and a factor.
 * A validation
 *
 *   improves when it is beyond best by more than threshold |best| (or threshold), and
 *     then stale = 0; otherwise stale + 1
 *   does not count while cooling, nor during the warm-up: stale = 0
 *   with stale >= patience: factor = max(factor * option, min), stale = 0, and the next
 *     `cooldown` validations are sat out
 *
 *   factor(step) = rise(step) factor      rise: the warm-up's (step + 1) / w, then 1
 *
 * As torch.optim.lr_scheduler.ReduceLROnPlateau, whose patience is one less (it waits
 * for more than that many) and whose threshold widens the wrong way below 0. */
#include <lathe/schedule.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../warmup.h"

#define STALE_MAX (INT64_C(1) << 53) /* more than any run has validations */

struct plateau {
    const lathe_host *host;
    const char *watch, *direction;
    int64_t warmup; /* steps */
    int64_t patience, cooldown;
    double factor, threshold, min;
    int is_relative;
    struct state {
        char magic[8], watch[104]; /* what `best` is a value of */
        double factor, best;       /* best NaN: none yet */
        int64_t stale, cooling;
    } state;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct plateau *p = calloc(1, sizeof *p);
    if (!p) return lathe_fail(host, LATHE_ENOMEM, "no memory for the schedule");
    p->host = host;
    p->watch = lathe_string(host, "watch");
    p->direction = lathe_string(host, "direction");
    p->warmup = warmup_read(host);
    p->patience = lathe_integer(host, "patience");
    p->cooldown = lathe_integer(host, "cooldown");
    p->factor = lathe_number(host, "factor");
    p->threshold = lathe_number(host, "threshold");
    p->is_relative = strcmp(lathe_string(host, "threshold_mode"), "relative") == 0;
    p->min = lathe_number(host, "min");
    p->state = (struct state){.magic = "plateau", .factor = 1, .best = NAN};
    strncpy(p->state.watch, p->watch, sizeof p->state.watch - 1);
    *self = p;
    return LATHE_OK;
}

static double factor(const void *self, const lathe_progress *progress) {
    const struct plateau *p = self;
    return warmup_rise(progress->step, p->warmup) * p->state.factor;
}

static int is_higher_better(const struct plateau *p) {
    if (strcmp(p->direction, "auto") != 0) return !strcmp(p->direction, "higher");
    return lathe_is_higher_better(p->host, p->watch);
}

/* A value that is not finite is never better: nothing could improve on it. */
static int is_better(const struct plateau *p, double value) {
    double best = p->state.best;
    if (!isfinite(value)) return 0;
    if (isnan(best)) return 1;
    double margin = p->is_relative ? p->threshold * fabs(best) : p->threshold;
    return is_higher_better(p) ? value > best + margin : value < best - margin;
}

static void observe(void *self, const lathe_progress *progress, double value) {
    struct plateau *p = self;
    struct state *state = &p->state;
    if (is_better(p, value)) {
        state->best = value;
        state->stale = 0;
    } else {
        state->stale++;
    }
    if (state->cooling > 0) {
        state->cooling--;
        state->stale = 0;
    }
    if (progress->step < p->warmup) state->stale = 0;
    if (state->stale < p->patience) return;
    double lower = fmax(state->factor * p->factor, p->min);
    if (lower < state->factor) state->factor = lower;
    state->cooling = p->cooldown;
    state->stale = 0;
}

static lathe_status save(void *self, const lathe_writer *to) {
    const struct plateau *p = self;
    return to->write(to, &p->state, sizeof p->state);
}

static int is_ours(const struct state *found, const struct state *present) {
    return memcmp(found->magic, present->magic, sizeof found->magic) == 0 &&
           memchr(found->watch, 0, sizeof found->watch) && found->factor >= 0 &&
           found->factor <= 1 && !isinf(found->best) && found->stale >= 0 &&
           found->stale <= STALE_MAX && found->cooling >= 0;
}

/* The rate that was reached stays, whatever is watched from now on. */
static lathe_status load(void *self, const lathe_reader *from) {
    struct plateau *p = self;
    struct state found;
    if (lathe_read_state(from, &found, sizeof found) != LATHE_OK ||
        !is_ours(&found, &p->state))
        return lathe_fail(p->host, LATHE_EDATA, "this is not a state of plateau");
    if (strcmp(found.watch, p->state.watch) == 0)
        p->state = found;
    else
        p->state.factor = found.factor;
    return LATHE_OK;
}

LATHE_SCHEDULE(.create = create, .destroy = free, .save = save, .load = load,
               .factor = factor, .observe = observe);
