/* SPDX-License-Identifier: MIT */
#include "workers.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "base/altstack.h"

#define SPINS 1000  /* pauses of 40 to 140 cycles: 10 to 50 microseconds */
#define PATIENCE 32 /* runs between two attempts to get a processor of one's own */

/* A number that threads wait on: they spin a little, then sleep. On its own cache
 * line. */
struct gate {
    _Alignas(64) _Atomic uint32_t value;
    _Atomic uint32_t sleepers;
};

struct worker {
    struct workers *owner;
    pthread_t thread;
    int index, number; /* among these; of the session */
    int patience;      /* runs until it may step aside again */
    _Atomic int cpu;   /* where it was in its last run; -1: nobody knows */
};

struct workers {
    struct gate start; /* generation: one up for each run */
    struct gate done;  /* helpers that are back from this run */
    int count;
    bool flush_denormals;
    size_t signal_stack; /* bytes of each helper's, as who made the workers has it */
    _Atomic bool is_ending;
    _Atomic int cpu; /* of the thread that runs part 0 */
    void (*part)(void *context, int worker);
    void *context;
    struct worker helpers[];
};

static _Thread_local int self = -1;

int workers_cores(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

int workers_self(void) {
    return self;
}

void workers_adopt(void) {
    self = 0;
}

static void pause_briefly(void) {
#if defined(__SSE2__)
    _mm_pause();
#endif
}

/* Returns once gate->value is no longer `old`. */
static void wait_while(struct gate *gate, uint32_t old) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&gate->value, memory_order_acquire) != old) return;
        pause_briefly();
    }
    atomic_fetch_add(&gate->sleepers, 1);
    while (atomic_load(&gate->value) == old)
        syscall(SYS_futex, (uint32_t *)&gate->value, FUTEX_WAIT_PRIVATE, old, NULL,
                NULL, 0);
    atomic_fetch_sub(&gate->sleepers, 1);
}

static void wake(struct gate *gate) {
    if (atomic_load(&gate->sleepers))
        syscall(SYS_futex, (uint32_t *)&gate->value, FUTEX_WAKE_PRIVATE, 1 << 30, NULL,
                NULL, 0);
}

/* The SSE control word, which decides rounding, traps and denormals; 0 where there is
 * none. */
static uint32_t set_arithmetic(bool flush_denormals) {
#if defined(__SSE2__)
    uint32_t before = _mm_getcsr();
    _mm_setcsr(flush_denormals ? 0x9FC0u : 0x1F80u); /* FTZ | DAZ, or the default */
    return before;
#else
    (void)flush_denormals;
    return 0;
#endif
}

uint32_t workers_begin_arithmetic(const struct workers *w) {
    return set_arithmetic(w->flush_denormals);
}

void workers_end_arithmetic(uint32_t before) {
#if defined(__SSE2__)
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

/* Takes the processors of those before this worker out of *set. Is one of them
 * `here`? */
static bool leave_to_others(const struct worker *worker, int here, cpu_set_t *set) {
    bool is_taken = false;
    for (int i = 0; i < worker->index; i++) {
        const struct workers *w = worker->owner;
        int cpu = atomic_load_explicit(i ? &w->helpers[i - 1].cpu : &w->cpu,
                                       memory_order_relaxed);
        if (cpu < 0) continue;
        CPU_CLR((size_t)cpu, set);
        is_taken |= cpu == here;
    }
    return is_taken;
}

/* Some kernels wake a thread on the processor of who wakes it, though another is idle,
 * then see no more than one of the two ready at a time, and leave it there: both work
 * in turns on one core. So a helper that runs where one before it runs asks for any
 * other place, and is then free again to go anywhere. Where there is none it stays. */
static void step_aside(struct worker *worker) {
    const int here = sched_getcpu();
    cpu_set_t all, others;
    CPU_ZERO(&others);
    atomic_store_explicit(&worker->cpu, here, memory_order_relaxed);
    if (worker->patience > 0) worker->patience--;
    if (!leave_to_others(worker, here, &others) || worker->patience) return;
    worker->patience = PATIENCE;
    if (sched_getaffinity(0, sizeof all, &all)) return;
    others = all;
    leave_to_others(worker, here, &others);
    if (!CPU_COUNT(&others) || sched_setaffinity(0, sizeof others, &others)) return;
    sched_setaffinity(0, sizeof all, &all);
    atomic_store_explicit(&worker->cpu, sched_getcpu(), memory_order_relaxed);
}

static void *turn(void *argument) {
    struct worker *worker = argument;
    struct workers *w = worker->owner;
    struct altstack stack;
    self = worker->number;
    altstack_begin(&stack, w->signal_stack);
    set_arithmetic(w->flush_denormals);
    for (uint32_t generation = 0;; generation++) {
        wait_while(&w->start, generation);
        if (atomic_load(&w->is_ending)) break;
        step_aside(worker);
        w->part(w->context, worker->number);
        atomic_fetch_add(&w->done.value, 1);
        wake(&w->done);
    }
    altstack_end(&stack);
    return NULL;
}

/* Signals are for the loop's thread: helpers start with all of them blocked, but for
 * those that are a thread's own fault. */
static int start_helper(struct worker *worker) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&worker->thread, NULL, turn, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

static lathe_status create(int count, int first_number, bool flush_denormals,
                           struct workers **workers, struct error *err) {
    size_t bytes = sizeof **workers + (size_t)count * sizeof(struct worker);
    bytes = (bytes + 63) / 64 * 64;
    struct workers *w = aligned_alloc(64, bytes);
    if (!w) return fail(err, LATHE_ENOMEM, "no memory for %d threads", count);
    memset(w, 0, bytes);
    w->count = 1;
    w->flush_denormals = flush_denormals;
    w->signal_stack = altstack_size();
    for (int i = 1; i < count; i++) {
        struct worker *worker = &w->helpers[i - 1];
        worker->owner = w;
        worker->index = i;
        worker->number = first_number + i - 1;
        int failure = start_helper(worker);
        if (failure) {
            workers_destroy(w);
            return fail(err, LATHE_ENOMEM, "cannot start thread %d of %d: %s", i + 1,
                        count, strerror(failure));
        }
        w->count++;
    }
    *workers = w;
    return LATHE_OK;
}

lathe_status workers_create(int count, bool flush_denormals, struct workers **workers,
                            struct error *err) {
    return create(count, 1, flush_denormals, workers, err);
}

lathe_status workers_create_beside(int number, bool flush_denormals,
                                   struct workers **workers, struct error *err) {
    return create(2, number, flush_denormals, workers, err);
}

int workers_count(const struct workers *workers) {
    return workers->count;
}

void workers_start(struct workers *w, void (*part)(void *context, int worker),
                   void *context) {
    w->part = part;
    w->context = context;
    atomic_store(&w->done.value, 0);
    atomic_store_explicit(&w->cpu, sched_getcpu(), memory_order_relaxed);
    atomic_fetch_add(&w->start.value, 1);
    wake(&w->start);
}

void workers_wait(struct workers *w) {
    const uint32_t helpers = (uint32_t)w->count - 1;
    uint32_t back;
    if (!w->part) return;
    while ((back = atomic_load_explicit(&w->done.value, memory_order_acquire)) <
           helpers)
        wait_while(&w->done, back);
}

void workers_run(struct workers *w, void (*part)(void *context, int worker),
                 void *context) {
    const bool has_helpers = w->count > 1;
    const uint32_t before = workers_begin_arithmetic(w);
    workers_adopt();
    if (has_helpers) workers_start(w, part, context);
    part(context, 0);
    if (has_helpers) workers_wait(w);
    workers_end_arithmetic(before);
}

void workers_destroy(struct workers *w) {
    if (!w) return;
    atomic_store(&w->is_ending, true);
    atomic_fetch_add(&w->start.value, 1);
    wake(&w->start);
    for (int i = 1; i < w->count; i++) pthread_join(w->helpers[i - 1].thread, NULL);
    free(w);
}
