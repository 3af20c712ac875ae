/* SPDX-License-Identifier: MIT */
/* Stops the run when a metric has not improved for `patience` validations in a row, or
 * epochs where the metric is one of training. */
#include <lathe/callback.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STALE_MAX (INT64_C(1) << 53) /* more than any run has validations */

struct early_stopping {
    const lathe_host *host;
    const char *watch, *direction;
    int32_t metric;
    int64_t patience;
    double min_delta;
    struct state {
        char magic[8], watch[104]; /* what `best` is a value of */
        double best;               /* NaN: none yet */
        int64_t stale;             /* validations since then */
    } state;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct early_stopping *e = calloc(1, sizeof *e);
    if (!e) return lathe_fail(host, LATHE_ENOMEM, "no memory for early-stopping");
    e->host = host;
    e->watch = lathe_string(host, "watch");
    e->direction = lathe_string(host, "direction");
    e->metric = host->watch(host, e->watch);
    e->patience = lathe_integer(host, "patience");
    e->min_delta = lathe_number(host, "min_delta");
    e->state = (struct state){.magic = "stopping", .best = NAN};
    strncpy(e->state.watch, e->watch, sizeof e->state.watch - 1);
    *self = e;
    return LATHE_OK;
}

static int is_higher_better(const struct early_stopping *e) {
    if (strcmp(e->direction, "auto") != 0) return !strcmp(e->direction, "higher");
    return lathe_is_higher_better(e->host, e->watch);
}

static int is_better(const struct early_stopping *e, double value) {
    double best = e->state.best;
    if (isnan(best)) return !isnan(value);
    return (is_higher_better(e) ? value - best : best - value) > e->min_delta;
}

static lathe_status judge(struct early_stopping *e, const char *what) {
    struct state *state = &e->state;
    double value;
    if (!e->host->value(e->host, e->metric, &value)) return LATHE_OK;
    if (is_better(e, value)) {
        state->best = value;
        state->stale = 0;
        return LATHE_OK;
    }
    if (++state->stale < e->patience) return LATHE_OK;
    char reason[256];
    snprintf(reason, sizeof reason, "%s has not improved on %.4g for %lld %s%s",
             e->watch, state->best, (long long)state->stale, what,
             state->stale == 1 ? "" : "s");
    e->host->request(e->host, LATHE_REQUEST_STOP, reason);
    return LATHE_STOP;
}

/* Metrics of training are judged by the epoch, all others where they are fresh. */
static int is_of(const struct early_stopping *e, const char *split) {
    size_t length = strlen(split);
    return !strncmp(e->watch, split, length) && e->watch[length] == '/';
}

static lathe_status validation_end(void *self, const lathe_moment *at) {
    return is_of(self, at->split) ? judge(self, "validation") : LATHE_OK;
}

static lathe_status epoch_end(void *self, const lathe_moment *at) {
    return is_of(self, at->split) ? judge(self, "epoch") : LATHE_OK;
}

static lathe_status save(void *self, const lathe_writer *to) {
    const struct early_stopping *e = self;
    return to->write(to, &e->state, sizeof e->state);
}

/* The best value of another metric is no measure for this one. */
static lathe_status load(void *self, const lathe_reader *from) {
    struct early_stopping *e = self;
    struct state found;
    if (lathe_read_state(from, &found, sizeof found) != LATHE_OK ||
        memcmp(found.magic, e->state.magic, sizeof found.magic) != 0 ||
        !memchr(found.watch, 0, sizeof found.watch) || found.stale < 0 ||
        found.stale > STALE_MAX)
        return lathe_fail(e->host, LATHE_EDATA,
                          "this is not a state of early-stopping");
    if (!strcmp(found.watch, e->state.watch)) e->state = found;
    return LATHE_OK;
}

LATHE_CALLBACK(.create = create, .destroy = free, .save = save, .load = load,
               .validation_end = validation_end, .epoch_end = epoch_end);
