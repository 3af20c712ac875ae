/* SPDX-License-Identifier: MIT */
/* Another dataset, whose reads take longer, or go wrong at the n-th. */
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "../wrapped.h"

struct slow {
    struct wrapped wrapped; /* first */
    double spin;            /* seconds */
    int64_t at;
    const char *act;
    _Atomic(int64_t) reads;
};

static lathe_status create(const lathe_host *host, void **self) {
    void *wrapped = NULL;
    lathe_status status = wrapped_create(host, &wrapped);
    if (status != LATHE_OK) return status;
    struct slow *d = calloc(1, sizeof *d);
    if (d) {
        d->wrapped = *(struct wrapped *)wrapped;
        d->spin = lathe_number(host, "spin") * 1e-6;
        d->at = lathe_integer(host, "at");
        d->act = lathe_string(host, "act");
        *self = d;
    }
    free(wrapped);
    return d ? LATHE_OK : lathe_fail(host, LATHE_ENOMEM, "no memory");
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void segfault(void) {
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}

static lathe_status act(const struct slow *d, const lathe_batch *into) {
    const lathe_host *host = d->wrapped.host;
    if (!strcmp(d->act, "fail"))
        return lathe_fail(host, LATHE_EIO, "the rows from %lld on cannot be read",
                          (long long)into->position);
    if (!strcmp(d->act, "fail-silently")) return LATHE_EDATA;
    if (!strcmp(d->act, "segfault")) segfault();
    if (!strcmp(d->act, "report")) host->report(host, 0, 1, 1);
    if (!strcmp(d->act, "interrupt")) kill(getpid(), SIGINT);
    return LATHE_OK;
}

static lathe_status read_slowly(void *self, const int64_t *indices,
                                const lathe_batch *into) {
    struct slow *d = self;
    const int64_t reads = atomic_fetch_add(&d->reads, 1) + 1;
    if (d->spin > 0)
        for (double end = seconds() + d->spin; seconds() < end;) continue;
    lathe_status status = wrapped_read(self, indices, into);
    return status == LATHE_OK && reads == d->at ? act(d, into) : status;
}

LATHE_DATASET(.create = create, .destroy = free, .describe = wrapped_describe,
              .read = read_slowly);
