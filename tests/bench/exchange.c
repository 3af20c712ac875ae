/* SPDX-License-Identifier: MIT */
/* How far two threads are apart: the time that a cache line takes from one to the other
 * and back. Cores that share a cache need some 100 ns, others several times as much,
 * and a virtual machine may be moved from the ones to the others at any time. */
#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>

#define ROUNDS 4000
#define COLD 1000     /* of them: not counted */
#define PATIENCE 0.05 /* seconds: two threads on one core would take for ever */

struct line {
    _Alignas(64) atomic_int value;
    double end; /* when nobody waits any longer */
};

static bool wait_for(struct line *line, int value) {
    for (int spins = 1;
         atomic_load_explicit(&line->value, memory_order_acquire) != value; spins++)
        if (spins % 1024 == 0 && bench_seconds() > line->end) return false;
    return true;
}

static void *answer(void *context) {
    struct line *line = context;
    for (int i = 0; i < ROUNDS && wait_for(line, 2 * i + 1); i++)
        atomic_store_explicit(&line->value, 2 * i + 2, memory_order_release);
    return NULL;
}

double exchange_measure(void) {
    struct line line = {.end = bench_seconds() + PATIENCE};
    pthread_t other;
    int i = 0;
    if (pthread_create(&other, NULL, answer, &line) != 0)
        bench_give_up("no second thread");
    double begin = 0;
    for (; i < ROUNDS; i++) {
        if (i == COLD) begin = bench_seconds();
        atomic_store_explicit(&line.value, 2 * i + 1, memory_order_release);
        if (!wait_for(&line, 2 * i + 2)) break;
    }
    double seconds = bench_seconds() - begin;
    pthread_join(other, NULL);
    return i < ROUNDS ? PATIENCE * 1e9 : seconds * 1e9 / (ROUNDS - COLD);
}
