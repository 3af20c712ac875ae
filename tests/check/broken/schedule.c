/* SPDX-License-Identifier: MIT */
/* A sound schedule, and with -DFAULT_… one that is wrong in one way: the rate halves
 * when the metric it watches gets worse. */
#include <lathe/schedule.h>

#include <math.h>
#include <stdlib.h>

struct halving {
    const lathe_host *host;
    int64_t asked;
    struct state {
        char magic[8];
        double best, factor;
    } state;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct halving *h = calloc(1, sizeof *h);
    if (!h) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    h->host = host;
    memcpy(h->state.magic, "halving", 8);
    h->state.best = HUGE_VAL;
    h->state.factor = lathe_number(host, "start");
    *self = h;
    return LATHE_OK;
}

static double factor(const void *self, const lathe_progress *progress) {
    const struct halving *h = self;
    double value = h->state.factor;
    (void)progress;
#ifdef FAULT_IMPURE
    ((struct halving *)self)->asked++;
    value *= 1 + 1e-9 * (double)(h->asked % 3);
#endif
#ifdef FAULT_NEGATIVE
    if (progress->steps > 1000)
        value -= (double)progress->step / (double)progress->steps;
#endif
#ifdef FAULT_DIVIDES
    value *= 1 / (double)(progress->steps - 2);
#endif
    return value;
}

static void observe(void *self, const lathe_progress *progress, double value) {
    struct halving *h = self;
    (void)progress;
#ifdef FAULT_STATIC
    static double best = HUGE_VAL;
#else
    double best = h->state.best;
#endif
    if (value > best) h->state.factor *= 0.5;
    if (value < best) best = value;
    h->state.best = best;
}

static lathe_status save(void *self, const lathe_writer *to) {
    const struct halving *h = self;
    return to->write(to, &h->state, sizeof h->state);
}

static lathe_status load(void *self, const lathe_reader *from) {
    struct halving *h = self;
    struct state found[2];
    int64_t got = 0;
    lathe_status status = from->read(from, found, sizeof found, &got);
    if (status != LATHE_OK) return status;
    if (got != sizeof *found || memcmp(found->magic, "halving", 8) != 0)
        return lathe_fail(h->host, LATHE_EDATA, "this is no state of halving");
    h->state = *found;
#ifdef FAULT_FORGETS
    h->state.best = HUGE_VAL;
#endif
    return LATHE_OK;
}

LATHE_SCHEDULE(.create = create, .destroy = free, .save = save, .load = load,
               .factor = factor, .observe = observe);
