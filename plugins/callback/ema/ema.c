/* SPDX-License-Identifier: MIT */
/* An exponential moving average of the weights (Polyak and Juditsky 1992), in a block
 * of its own: it is saved with the run, under lathe/block/ema/average. Statistics that
 * the model keeps (buffers) are averages already and are taken as they are. */
#include <stdlib.h>
#include <string.h>

#include <lathe/callback.h>

#include "kernels/average.h"

#define UPDATES_MAX (INT64_C(1) << 53) /* more than any run makes */

struct ema {
    const lathe_host *host;
    double decay;
    int64_t has_warmup, validates;
    float *average;
    struct state {
        char magic[8];
        int64_t updates;
    } state;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct ema *e = calloc(1, sizeof *e);
    if (!e) return lathe_fail(host, LATHE_ENOMEM, "no memory for ema");
    e->host = host;
    e->decay = lathe_number(host, "decay");
    e->has_warmup = lathe_integer(host, "warmup");
    e->validates = lathe_integer(host, "validate");
    e->average = host->block(host, "average");
    e->state = (struct state){.magic = "averages"};
    if (!e->average) {
        free(e);
        return lathe_fail(host, LATHE_ENOMEM, "no memory for the average");
    }
    *self = e;
    return LATHE_OK;
}

static float decay_of(const struct ema *e) {
    const double t = (double)e->state.updates, warm = (1 + t) / (10 + t);
    return (float)(e->has_warmup && warm < e->decay ? warm : e->decay);
}

static lathe_status step_end(void *self, const lathe_moment *at) {
    struct ema *e = self;
    lathe_parameter_view p = {.size = sizeof p};
    const float *weights = e->host->weights(e->host, LATHE_READ);
    /* The first weights are all there is to average. */
    const float decay = e->state.updates ? decay_of(e) : 0;
    (void)at;
    for (int64_t i = 0; e->host->parameter(e->host, i, &p) == LATHE_OK; i++)
        average_update(p.count, p.flags & LATHE_BUFFER ? 0 : decay, weights + p.offset,
                       e->average + p.offset);
    e->state.updates++;
    return LATHE_OK;
}

static lathe_status validation_begin(void *self, const lathe_moment *at) {
    const struct ema *e = self;
    (void)at;
    if (e->validates && e->state.updates) e->host->evaluate_with(e->host, e->average);
    return LATHE_OK;
}

static lathe_status save(void *self, const lathe_writer *to) {
    const struct ema *e = self;
    return to->write(to, &e->state, sizeof e->state);
}

static lathe_status load(void *self, const lathe_reader *from) {
    struct ema *e = self;
    struct state found;
    if (lathe_read_state(from, &found, sizeof found) != LATHE_OK ||
        memcmp(found.magic, e->state.magic, sizeof found.magic) != 0 ||
        found.updates < 0 || found.updates > UPDATES_MAX)
        return lathe_fail(e->host, LATHE_EDATA, "this is not a state of ema");
    e->state = found;
    return LATHE_OK;
}

LATHE_CALLBACK(.create = create, .destroy = free, .save = save, .load = load,
               .step_end = step_end, .validation_begin = validation_begin);
