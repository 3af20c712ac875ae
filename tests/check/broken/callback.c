/* SPDX-License-Identifier: MIT */
/* A sound callback, and with -DFAULT_… one that is wrong in one way. It counts steps,
 * reports the count and keeps it as state. */
#define _GNU_SOURCE
#include <lathe/callback.h>

#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct counter {
    const lathe_host *host;
    char *note; /* made in run_begin */
    int32_t metric, unused;
    struct state {
        char magic[8];
        int64_t steps;
    } state;
};

#ifdef FAULT_TWO_SYMBOLS
LATHE_EXPORT int helper_of_everybody(void);
int helper_of_everybody(void) {
    return 1;
}
#endif

static void *wait_for_ever(void *context) {
    for (;;) pause();
    return context;
}

static void spoil(void) {
    pthread_t thread;
    (void)thread, (void)wait_for_ever;
#ifdef FAULT_LEAK
    (void)!strdup("17 bytes each one");
#endif
#ifdef FAULT_DESCRIPTOR
    (void)!open("/dev/null", O_RDONLY);
#endif
#ifdef FAULT_THREAD
    pthread_create(&thread, NULL, wait_for_ever, NULL);
#endif
#ifdef FAULT_HANG
    for (;;) pause();
#endif
#ifdef FAULT_EXIT
    fputs("no licence\n", stderr);
    exit(3);
#endif
#ifdef FAULT_LOCALE
    setlocale(LC_ALL, "C.UTF-8");
#endif
#ifdef FAULT_ROUNDING
    fesetround(FE_DOWNWARD);
#endif
#ifdef FAULT_SIGNAL
    signal(SIGUSR2, SIG_IGN);
#endif
#ifdef FAULT_DIRECTORY
    (void)!chdir("/");
#endif
#ifdef FAULT_ENVIRONMENT
    setenv("COUNTER_WAS_HERE", "1", 1);
#endif
#ifdef FAULT_UMASK
    umask(0);
#endif
}

static lathe_status create(const lathe_host *host, void **self) {
    const lathe_metric metric = {.size = sizeof metric, .name = "steps"};
    spoil();
#ifdef FAULT_PRINTS
    puts("here I am");
#endif
#ifndef FAULT_UNREAD
    (void)lathe_integer(host, "every");
#endif
#ifdef FAULT_SILENT
    if (lathe_integer(host, "every") == 1) return LATHE_EINVAL;
#endif
    struct counter *c = calloc(1, sizeof *c);
    if (!c) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    c->host = host;
    memcpy(c->state.magic, "counter", 8);
    c->metric = host->metric(host, &metric);
#ifdef FAULT_EDGE
    c->state.steps = 100 / (lathe_integer(host, "every") - 1);
#endif
    *self = c;
    return LATHE_OK;
}

static void destroy(void *self) {
    struct counter *c = self;
#ifdef FAULT_CRASH
    *(volatile int *)(void *)&c->host = *(volatile int *)(uintptr_t)c->state.magic[7];
#endif
#ifdef FAULT_UNBEGUN
    *(volatile char *)c->note = 0;
#endif
    free(c->note);
    free(c);
}

static lathe_status save(void *self, const lathe_writer *to) {
    const struct counter *c = self;
    return to->write(to, &c->state, sizeof c->state);
}

static lathe_status load(void *self, const lathe_reader *from) {
    struct counter *c = self;
    struct state found[2] = {0};
    int64_t got = 0;
    lathe_status status = from->read(from, found, sizeof found, &got);
    if (status != LATHE_OK) return status;
#ifdef FAULT_TRUNCATED
    if (got > 8 && !memcmp(found->magic, "counter", 8)) got = sizeof *found;
#endif
#ifdef FAULT_RANDOM
    if (got == sizeof *found) memcpy(found->magic, "counter", 8);
#endif
#ifdef FAULT_CHANGED
    c->state.steps = found->steps;
#endif
    if (got != sizeof *found || memcmp(found->magic, "counter", 8) != 0)
        return lathe_fail(c->host, LATHE_EDATA, "this is no state of counter");
    c->state = *found;
#ifdef FAULT_FORGETS
    c->state.steps = 0;
#endif
    return LATHE_OK;
}

static lathe_status run_begin(void *self, const lathe_moment *at) {
    struct counter *c = self;
    (void)at;
    free(c->note);
    c->note = strdup("begun");
    return LATHE_OK;
}

static lathe_status step_end(void *self, const lathe_moment *at) {
    struct counter *c = self;
    (void)at;
#ifdef FAULT_WRITES
    (void)!write(1, "step\n", 5);
#endif
#ifdef FAULT_SLOW
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
#endif
    c->state.steps++;
#ifdef FAULT_SHARED
    static int64_t steps;
    c->state.steps = ++steps;
#endif
    double value = (double)c->state.steps;
#ifdef FAULT_CLOCK
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    value = (double)now.tv_nsec;
#endif
#ifdef FAULT_ADDRESS
    value = (double)(uintptr_t)c;
#endif
    c->host->report(c->host, c->metric, value, 1);
    return LATHE_OK;
}

static lathe_status run_end(void *self, const lathe_moment *at) {
    struct counter *c = self;
    (void)c, (void)at;
#ifdef FAULT_REASON
    if (strcmp(at->reason, "completed") != 0 && strcmp(at->reason, "stopped") != 0)
        return lathe_fail(c->host, LATHE_EPLUGIN, "it ended as %s?", at->reason);
#endif
    return LATHE_OK;
}

LATHE_CALLBACK(.create = create, .destroy = destroy, .save = save, .load = load,
               .run_begin = run_begin, .step_end = step_end, .run_end = run_end);
