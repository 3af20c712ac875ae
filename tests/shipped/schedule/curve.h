/* SPDX-License-Identifier: MIT */
/* A schedule on the fake host, and what it must be at a step. Include after the
 * schedule's .c, with SCHEDULE defined as its folder. */
#ifndef TESTS_SHIPPED_SCHEDULE_CURVE_H
#define TESTS_SHIPPED_SCHEDULE_CURVE_H

#include <math.h>

#include "support/fake_host.h"

struct fixture {
    struct fake_host host; /* first: a host's context is its fake */
    void *self;
};

static inline void open_schedule(struct fixture *f, const char *options) {
    f->self = NULL;
    fake_host_init(&f->host, options);
    fake_host_manifest(&f->host, SCHEDULE);
    assert_int_equal(lathe_ops_.create(&f->host.table, &f->self), LATHE_OK);
}

static inline void close_schedule(struct fixture *f) {
    lathe_ops_.destroy(f->self);
    fake_host_finish(&f->host);
}

static inline double at(const struct fixture *f, int64_t step, int64_t steps) {
    lathe_progress progress = {.size = sizeof progress, .step = step, .steps = steps};
    return lathe_ops_.factor(f->self, &progress);
}

static inline void expect(const struct fixture *f, int64_t step, int64_t steps,
                          double expected) {
    double actual = at(f, step, steps);
    if (!(fabs(actual - expected) < 1e-15))
        fail_msg("step %lld of %lld: %.17g, not %.17g", (long long)step,
                 (long long)steps, actual, expected);
}

#endif
