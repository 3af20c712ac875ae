/* SPDX-License-Identifier: MIT */
/* A sound optimizer, and with -DFAULT_… one that is wrong in one way: a step of the
 * rate in the direction of a running mean, by its size. */
#include <lathe/optimizer.h>

#include <math.h>
#include <stdlib.h>

struct mean {
    const lathe_host *host;
    double eps, rate, last, scratch[8];
};

static lathe_status create(const lathe_host *host, void **self) {
    struct mean *m = calloc(1, sizeof *m);
    if (!m) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    m->host = host;
    m->eps = lathe_number(host, "eps");
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
    const double scale = span->scale;
    double rate = span->rate;
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
    }
    return LATHE_OK;
}

LATHE_OPTIMIZER(.flags = LATHE_ELEMENTWISE, .create = create, .destroy = free,
                .slots = slots, .begin = begin, .step = step);
