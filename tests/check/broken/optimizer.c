/* SPDX-License-Identifier: MIT */
/* A sound optimizer, and with -DFAULT_… one that is wrong in one way: a step of the
 * rate in the direction of a running mean, by its size. */
#include <lathe/optimizer.h>

#include <math.h>
#include <stdlib.h>

struct mean {
    const lathe_host *host;
    double eps, decay, rate, last, scratch[8];
};

static lathe_status create(const lathe_host *host, void **self) {
    struct mean *m = calloc(1, sizeof *m);
    if (!m) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    m->host = host;
    m->eps = lathe_number(host, "eps");
#ifndef FAULT_UNREAD
    m->decay = lathe_number(host, "weight_decay");
#endif
    *self = m;
    return LATHE_OK;
}

static int32_t slots(void *self, const char *const **names) {
    static const char *const list[] = {"mean"};
    (void)self;
    *names = list;
    return 1;
}

static void begin(void *self, int64_t step, double rate) {
    struct mean *m = self;
    (void)step;
    m->rate = rate;
#ifdef FAULT_STATIC
    static double shared;
    shared = rate;
    m->rate = 0;
    m->last = (double)(uintptr_t)&shared;
#endif
}

static lathe_status step(void *self, const lathe_span *span) {
    struct mean *m = self;
    double scale = span->scale, rate = span->rate;
    const int decays = (span->flags & LATHE_DECAYS) != 0;
    (void)decays;
#ifdef FAULT_SCALE
    scale = 1;
#endif
#ifdef FAULT_RATE
    rate = 0.01;
#endif
#ifdef FAULT_STATIC
    rate = *(double *)(uintptr_t)m->last;
#endif
    for (int64_t i = 0; i < span->count; i++) {
        double g = (double)span->gradients[i] * scale;
#ifdef FAULT_SPANS
        if (i == 0) g *= 1.0001;
#endif
#ifdef FAULT_KEEPS
        m->last = 0.9 * m->last + 0.1 * g;
        g += 0.01 * m->last;
#endif
#ifdef FAULT_THREADS
        if (i % 8 == 0)
            for (int64_t j = i; j < i + 8 && j < span->count; j++)
                m->scratch[j % 8] = (double)span->gradients[j] * scale;
        g = m->scratch[i % 8];
#endif
        float *mean = &span->slots[0][i];
        *mean = (float)(0.9 * (double)*mean + 0.1 * g);
#ifdef FAULT_EPS
        const double size = fabs((double)*mean);
#else
        const double size = fabs((double)*mean) + m->eps;
#endif
        span->weights[i] -= (float)(rate * (double)*mean / size);
#ifdef FAULT_COUPLED
        if (decays) span->weights[i] -= (float)(0.01 * m->decay) * span->weights[i];
#elif defined FAULT_DECAY
        span->weights[i] -= (float)(rate * m->decay) * span->weights[i];
#elif !defined FAULT_DECAYS_NOTHING
        if (decays) span->weights[i] -= (float)(rate * m->decay) * span->weights[i];
#endif
    }
    return LATHE_OK;
}

LATHE_OPTIMIZER(.flags = LATHE_ELEMENTWISE, .create = create, .destroy = free,
                .slots = slots, .begin = begin, .step = step);
