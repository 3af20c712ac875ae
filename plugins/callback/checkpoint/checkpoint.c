/* SPDX-License-Identifier: MIT */
/* When the state of the run is saved, and how many files are kept. The host does the
 * saving, at the boundary after the point that asked for it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lathe/callback.h>
#include <lathe/draft/checkpoint.h>

struct checkpoint {
    const lathe_host *host;
    const lathe_checkpoints *files;
    int32_t every, metric; /* metric -1: no best one is kept */
    const char *watch, *direction;
    struct state {
        char magic[8], watch[104]; /* what `best` is a value of */
        double best;               /* NaN: none yet */
    } state;
};

static lathe_status create(const lathe_host *host, void **self) {
    const lathe_checkpoints *files = host->extension(host, LATHE_CHECKPOINTS);
    if (!files)
        return lathe_fail(host, LATHE_EPLUGIN, "this host does not offer %s",
                          LATHE_CHECKPOINTS);
    struct checkpoint *c = calloc(1, sizeof *c);
    if (!c) return lathe_fail(host, LATHE_ENOMEM, "no memory for checkpoint");
    c->host = host;
    c->files = files;
    c->every = host->every(host, "every");
    c->watch = lathe_has(host, "best") ? lathe_string(host, "best") : "";
    c->direction = lathe_string(host, "direction");
    c->metric = c->watch[0] ? host->watch(host, c->watch) : -1;
    c->state = (struct state){.magic = "keepbest", .best = NAN};
    strncpy(c->state.watch, c->watch, sizeof c->state.watch - 1);
    files->keep(host, lathe_integer(host, "keep"));
    *self = c;
    return LATHE_OK;
}

static lathe_status step_end(void *self, const lathe_moment *at) {
    const struct checkpoint *c = self;
    (void)at;
    if (c->host->is_due(c->host, c->every))
        c->host->request(c->host, LATHE_REQUEST_SAVE, "");
    return LATHE_OK;
}

static int is_higher_better(const struct checkpoint *c) {
    if (strcmp(c->direction, "auto") != 0) return !strcmp(c->direction, "higher");
    return lathe_is_higher_better(c->host, c->watch);
}

/* A value that is not a number is never the best. */
static lathe_status look(void *self, const lathe_moment *at) {
    struct checkpoint *c = self;
    const double best = c->state.best;
    double value;
    (void)at;
    if (c->metric < 0 || !c->host->value(c->host, c->metric, &value)) return LATHE_OK;
    if (is_higher_better(c) ? value <= best : value >= best) return LATHE_OK;
    if (isnan(value)) return LATHE_OK;
    c->state.best = value;
    c->files->best(c->host);
    return LATHE_OK;
}

static lathe_status save(void *self, const lathe_writer *to) {
    const struct checkpoint *c = self;
    return to->write(to, &c->state, sizeof c->state);
}

/* The best value of another metric is no measure for this one. */
static lathe_status load(void *self, const lathe_reader *from) {
    struct checkpoint *c = self;
    struct state found;
    if (lathe_read_state(from, &found, sizeof found) != LATHE_OK ||
        memcmp(found.magic, c->state.magic, sizeof found.magic) != 0 ||
        !memchr(found.watch, 0, sizeof found.watch))
        return lathe_fail(c->host, LATHE_EDATA, "this is not a state of checkpoint");
    if (!strcmp(found.watch, c->state.watch)) c->state = found;
    return LATHE_OK;
}

LATHE_CALLBACK(.create = create, .destroy = free, .save = save, .load = load,
               .step_end = step_end, .validation_end = look, .epoch_end = look);
