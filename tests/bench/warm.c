/* SPDX-License-Identifier: MIT */
/* What a warm step asks of the system: allocations and page faults of the whole
 * process. And what it costs the host: a model of one weight under eight callbacks that
 * do nothing, where everything but a few nanoseconds is the host's. */
#include "bench.h"

#include <stdio.h>
#include <sys/resource.h>

#define WARM_UP 100
#define WARM_STEPS 300

static int64_t page_faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static void count_steps(struct bench *bench, const char *threads, const char *label) {
    char experiment[512], name[96];
    snprintf(experiment, sizeof experiment, "%s/manifests/fashion-mlp.json",
             bench->source);
    const char *const overrides[] = {
        "callbacks=[]",         "expect={}", "train.until=1000ep",
        "train.prefetch=false", threads,     NULL};
    lathe_session *session = bench_open(bench, experiment, overrides, NULL);
    for (int i = 0; i < WARM_UP; i++) bench_step(session);
    int64_t allocations = count_allocations(), faults = page_faults();
    for (int i = 0; i < WARM_STEPS; i++) bench_step(session);
    allocations = count_allocations() - allocations;
    faults = page_faults() - faults;
    bench_close(session);
    snprintf(name, sizeof name, "allocations per step, %s", label);
    bench_add(bench, "warm", name, (double)allocations / WARM_STEPS, "", 0,
              "%lld in %d steps of fashion-mlp.json", (long long)allocations,
              WARM_STEPS);
    snprintf(name, sizeof name, "page faults per step, %s", label);
    bench_add(bench, "warm", name, (double)faults / WARM_STEPS, "", 0,
              "%lld in %d steps of fashion-mlp.json", (long long)faults, WARM_STEPS);
}

void bench_warm(struct bench *bench) {
    count_steps(bench, "train.threads=1", "1 thread");
    count_steps(bench, "train.threads=2", "2 threads");
}
