/* SPDX-License-Identifier: MIT */
/* Training steps of an MLP 784-512-256-10 at batch 64 on Fashion-MNIST, on one and on
 * two threads, beside the machine's multiply-add peak. All are measured in turns, so
 * that what disturbs one disturbs all; a round in which two threads had one core
 * between them (seen by their peak) is measured again. */
#include "bench.h"

#include <stdio.h>

#define ROUNDS 9
#define ROUNDS_MAX 18
#define STEPS 100

static const struct contender {
    const char *name, *optimizer;
    int threads;
    const char *overrides[4];
} contenders[] = {
    {"mlp, batch 64, sgd, 1 thread",
     "sgd",
     1,
     {"train.shards=1", "train.threads=1", NULL}},
    {"mlp, batch 64, sgd, 2 threads",
     "sgd",
     2,
     {"train.shards=2", "train.threads=2", NULL}},
    {"mlp, batch 64, adamw, 1 thread",
     "adamw",
     1,
     {"train.shards=1", "train.threads=1", "optimizer.use=adamw", NULL}},
    {"mlp, batch 64, adamw, 2 threads",
     "adamw",
     2,
     {"train.shards=2", "train.threads=2", "optimizer.use=adamw", NULL}},
};
#define CONTENDERS (sizeof contenders / sizeof *contenders)

struct series {
    double peak[2][ROUNDS];
    double ms[CONTENDERS][ROUNDS], share[CONTENDERS][ROUNDS];
    int rounds, repeated;
};

/* One round. False: the two threads did not have two cores. */
static bool measure_round(lathe_session *const *sessions, struct series *series) {
    int round = series->rounds;
    double peak[2] = {peak_measure(1), peak_measure(2)};
    double after;
    for (size_t i = 0; i < CONTENDERS; i++) {
        double seconds = bench_time_steps(sessions[i], STEPS) / STEPS;
        series->ms[i][round] = seconds * 1e3;
        series->share[i][round] = bench_mlp_flops(64) * 1e-9 / seconds /
                                  peak[contenders[i].threads - 1] * 100;
    }
    after = peak_measure(2);
    series->peak[0][round] = peak[0];
    series->peak[1][round] = peak[1];
    return peak_is_doubled(peak[0], peak[1]) && peak_is_doubled(peak[0], after);
}

void bench_steps(struct bench *bench) {
    lathe_session *sessions[CONTENDERS];
    struct series series = {.rounds = 0};
    for (size_t i = 0; i < CONTENDERS; i++) {
        sessions[i] = bench_open(bench, bench_mlp, contenders[i].overrides, NULL);
        bench_time_steps(sessions[i], STEPS);
    }
    for (int round = 0; round < ROUNDS_MAX && series.rounds < ROUNDS; round++) {
        /* Near the end of patience any round will do; the note tells. */
        bool is_short_of_time = ROUNDS_MAX - round <= ROUNDS - series.rounds;
        bool is_good = measure_round(sessions, &series);
        if (is_good || is_short_of_time) series.rounds++;
        if (!is_good) series.repeated++;
    }
    size_t count = (size_t)series.rounds;
    for (int threads = 1; threads <= 2; threads++)
        bench_add(bench, "peak",
                  threads == 1 ? "multiply-add, 1 thread" : "multiply-add, 2 threads",
                  bench_median(series.peak[threads - 1], count), "GFLOP/s", -1, "%s",
                  peak_instructions());
    for (size_t i = 0; i < CONTENDERS; i++)
        bench_add(bench, "step", contenders[i].name, bench_median(series.ms[i], count),
                  "ms", -1, "%.1f %% of the peak of the same round",
                  bench_median(series.share[i], count));
    if (series.repeated > 0)
        printf("        %d times, two threads did not have two cores to themselves\n",
               series.repeated);
    for (size_t i = 0; i < CONTENDERS; i++) bench_close(sessions[i]);
}
