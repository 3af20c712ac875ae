/* SPDX-License-Identifier: MIT */
/* Training steps of an MLP 784-512-256-10 on Fashion-MNIST, lathe and a peer in turns:
 * lathe, peer, lathe, peer. Whoever waits sleeps. Turns during which a thread had not
 * all of a core (two threads one between them, or others at work; the multiply-add
 * peak before, between and after tells) are taken again, and in the end left out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

#define STEPS 100
#define TRIES 3    /* for a turn, in every round */
#define QUIET 0.9  /* of the best peak so far, each thread has at least */
#define OWNED 0.95 /* of a core, a thread that never sleeps has at least */
#define NEAR                                                                           \
    250 /* ns: a line there and back, of cores that share a cache, takes less */
#define WAITING 12 /* seconds in a round, for cores to be near and quiet */

static const struct contender {
    const char *optimizer;
    int batch, threads;
    double wanted; /* PyTorch's time over ours */
} contenders[] = {
    {"sgd", 64, 1, 1.35},   {"sgd", 64, 2, 1.3},   {"adamw", 64, 1, 1.5},
    {"adamw", 64, 2, 1.45}, {"sgd", 128, 1, 1.15}, {"sgd", 128, 2, 1.3},
};
#define CONTENDERS (sizeof contenders / sizeof *contenders)
#define FIRST 0     /* the one whose share of the peak is wanted */
#define LARGE_ONE 4 /* batch 128 on one thread; on two it follows */
#define SHARE_WANTED 70
#define TWO_OVER_ONE_WANTED 1.65

struct side {
    lathe_session *session;
    struct bench_series lathe, peer, share;
    double slices; /* ms of the peer's best turn without a gather */
    int good;      /* rounds; when there are none, the series have the others */
};

/* Milliseconds of a step; the peak of one thread. */
struct turn {
    double lathe, peer, peak;
};

struct meeting {
    struct bench *bench;
    struct peer peers[2]; /* on one thread, on two */
    struct side sides[CONTENDERS];
    double peak;       /* of one thread, the best so far */
    double exchange;   /* of two threads, the least so far, ns */
    double disturbing; /* our processor time while the peer worked, seconds … */
    double worked;     /* … and how long that was */
    int patience;      /* turns that may still be taken again … */
    double waiting;    /* … and how long it may still be waited for quiet, seconds */
};

static lathe_session *open_session(const struct bench *bench,
                                   const struct contender *contender) {
    char shards[32], threads[32], batch[32];
    bool is_sgd = strcmp(contender->optimizer, "sgd") == 0;
    snprintf(shards, sizeof shards, "train.shards=%d", contender->threads);
    snprintf(threads, sizeof threads, "train.threads=%d", contender->threads);
    snprintf(batch, sizeof batch, "train.batch=%d", contender->batch);
    const char *const overrides[] = {
        shards, threads, batch,
        is_sgd ? "optimizer={\"use\":\"sgd\",\"lr\":0.01,\"momentum\":0.9}"
               : "optimizer={\"use\":\"adamw\",\"lr\":0.001,\"weight_decay\":0.01}",
        NULL};
    return bench_open(bench, bench_mlp, overrides, NULL);
}

static double own_processor_time(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Milliseconds of a step of the peer, which takes samples by "gather" or "slice". */
static double ask_steps(struct meeting *meeting, const struct contender *contender,
                        const char *way) {
    char answer[64];
    double used = own_processor_time(), begin = bench_seconds();
    peer_ask(&meeting->peers[contender->threads - 1], answer, sizeof answer,
             "%s %d %s %d", contender->optimizer, contender->batch, way, STEPS);
    meeting->disturbing += own_processor_time() - used;
    meeting->worked += bench_seconds() - begin;
    return strtod(answer, NULL) * 1e3 / STEPS;
}

/* Milliseconds of a step of ours. *owned: how much of a core it had, on one thread; two
 * sleep while they wait for each other. */
static double time_lathe(struct meeting *meeting, size_t i, double *owned) {
    double used = own_processor_time(), begin = bench_seconds();
    double ms = bench_time_steps(meeting->sides[i].session, STEPS) * 1e3 / STEPS;
    *owned = contenders[i].threads > 1
                 ? 1
                 : (own_processor_time() - used) / (bench_seconds() - begin);
    return ms;
}

static double look_at_peak(struct meeting *meeting, int threads) {
    double peak = peak_measure(threads) / threads;
    if (peak > meeting->peak) meeting->peak = peak;
    return peak;
}

/* Do so many threads have cores that share a cache? */
static bool are_near(struct meeting *meeting, int threads) {
    if (threads == 1) return true;
    double exchange = exchange_measure();
    if (meeting->exchange == 0 || exchange < meeting->exchange)
        meeting->exchange = exchange;
    return exchange < NEAR;
}

/* Waits, with patience, until so many threads have as many cores, near each other. The
 * peak of one of them. */
static double find_quiet(struct meeting *meeting, int threads) {
    const struct timespec pause = {.tv_nsec = 20000000};
    for (;;) {
        double begin = bench_seconds(), peak = look_at_peak(meeting, threads);
        bool is_quiet = peak > QUIET * meeting->peak && are_near(meeting, threads);
        if (is_quiet || meeting->waiting <= 0) return peak;
        nanosleep(&pause, NULL);
        meeting->waiting -= bench_seconds() - begin;
    }
}

/* Both sides, one turn each. False: somebody had not all of its cores. */
static bool try_turns(struct meeting *meeting, size_t i, struct turn *turn) {
    const struct contender *contender = &contenders[i];
    const struct peer *peer = &meeting->peers[contender->threads - 1];
    double owned, least = find_quiet(meeting, contender->threads);
    turn->lathe = time_lathe(meeting, i, &owned);
    double peak = look_at_peak(meeting, contender->threads);
    turn->peak = fmax(peak, least);
    least = fmin(peak, least);
    if (meeting->bench->peer != NULL) {
        turn->peer = ask_steps(meeting, contender, "gather");
        least = fmin(least, look_at_peak(meeting, contender->threads));
        owned = fmin(owned, peer->owned / contender->threads);
    }
    return least > QUIET * meeting->peak && owned > OWNED &&
           are_near(meeting, contender->threads);
}

static void take_turns(struct meeting *meeting, size_t i) {
    struct side *side = &meeting->sides[i];
    struct turn turn = {0};
    bool is_good = false;
    for (int tries = 0; !is_good && tries < TRIES; tries++) {
        if (tries > 0 && meeting->patience-- <= 0) break;
        is_good = try_turns(meeting, i, &turn);
    }
    if (is_good && side->good++ == 0) /* what was taken in need of a better */
        side->lathe.count = side->peer.count = side->share.count = 0;
    if (!is_good && side->good > 0) return;
    double flops = bench_mlp_flops(contenders[i].batch);
    series_add(&side->lathe, turn.lathe);
    series_add(&side->share, flops * 1e-6 / turn.lathe / turn.peak * 100);
    if (meeting->bench->peer == NULL) return;
    series_add(&side->peer, turn.peer);
    double slices = ask_steps(meeting, &contenders[i], "slice");
    if (side->slices == 0 || slices < side->slices) side->slices = slices;
}

/* ---- before and after ---- */

static void meet_peers(struct meeting *meeting) {
    struct bench *bench = meeting->bench;
    for (int threads = 1; threads <= 2; threads++)
        peer_start(&meeting->peers[threads - 1], bench, threads);
    snprintf(bench->peers, sizeof bench->peers, "%s", meeting->peers[1].about);
    printf("peer    %s\n", bench->peers);
    fflush(stdout);
    for (size_t i = 0; i < CONTENDERS; i++) {
        char answer[64];
        peer_ask(&meeting->peers[contenders[i].threads - 1], answer, sizeof answer,
                 "tune %s %d", contenders[i].optimizer, contenders[i].batch);
        snprintf(meeting->sides[i].peer.name, sizeof meeting->sides[i].peer.name,
                 "torch, %.16s", answer);
    }
}

static void name_row(struct bench_row *row, const char *name) {
    snprintf(row->part, sizeof row->part, "mlp");
    snprintf(row->name, sizeof row->name, "%s", name);
}

/* "7 of 9 rounds", when some were disturbed */
static void note_rounds(const struct meeting *meeting, const struct side *side,
                        struct bench_row *row) {
    size_t length = strlen(row->note);
    if (side->good == meeting->bench->rounds) return;
    snprintf(row->note + length, sizeof row->note - length, "%s%d of %d rounds quiet%s",
             length > 0 ? "; " : "", side->good, meeting->bench->rounds,
             side->good == 0 ? ": NOT TO BE JUDGED" : "");
    if (side->good == 0) row->bound = BENCH_NO_BOUND;
}

static void report_contender(struct meeting *meeting, size_t i) {
    const struct contender *contender = &contenders[i];
    struct side *side = &meeting->sides[i];
    struct bench_row row = {.bound = BENCH_AT_LEAST, .limit = contender->wanted};
    char name[64];
    snprintf(name, sizeof name, "%s, batch %d, %d thread%s", contender->optimizer,
             contender->batch, contender->threads, contender->threads > 1 ? "s" : "");
    name_row(&row, name);
    row.under = side->lathe;
    row.over = side->peer;
    if (meeting->bench->peer != NULL) {
        snprintf(row.note, sizeof row.note, "%s; %.3f without gather",
                 strchr(side->peer.name, ' ') + 1, side->slices);
        note_rounds(meeting, side, &row);
        bench_compare(meeting->bench, &row);
        return;
    }
    row.bound = BENCH_NO_BOUND;
    row.value = series_median(&side->lathe);
    snprintf(row.unit, sizeof row.unit, "ms");
    snprintf(row.note, sizeof row.note, "best %.3f", series_best(&side->lathe));
    note_rounds(meeting, side, &row);
    bench_add_row(meeting->bench, &row);
}

static void report_own(struct meeting *meeting) {
    struct bench_row row = {.bound = BENCH_AT_LEAST, .limit = TWO_OVER_ONE_WANTED};
    bench_head("2 threads", "1 thread");
    name_row(&row, "lathe, sgd, batch 128");
    row.under = meeting->sides[LARGE_ONE + 1].lathe;
    row.over = meeting->sides[LARGE_ONE].lathe;
    snprintf(row.under.name, sizeof row.under.name, "2 threads");
    snprintf(row.over.name, sizeof row.over.name, "1 thread");
    bool is_first_worse =
        meeting->sides[LARGE_ONE].good < meeting->sides[LARGE_ONE + 1].good;
    note_rounds(meeting, &meeting->sides[LARGE_ONE + !is_first_worse], &row);
    bench_compare(meeting->bench, &row);
    printf("\n");
    row = (struct bench_row){.bound = BENCH_AT_LEAST, .limit = SHARE_WANTED};
    name_row(&row, "share of the peak, sgd, batch 64, 1 thread");
    row.value = series_median(&meeting->sides[FIRST].share);
    snprintf(row.unit, sizeof row.unit, "%%");
    snprintf(row.note, sizeof row.note, "of the turn's; the best was %.1f GFLOP/s",
             meeting->peak);
    note_rounds(meeting, &meeting->sides[FIRST], &row);
    bench_add_row(meeting->bench, &row);
    bench_add(meeting->bench, "mlp", "a cache line from core to core and back",
              meeting->exchange, "ns", -1, "%s", "at best");
}

/* That who waited did not disturb the other. */
static void report_fairness(struct meeting *meeting) {
    double idle = 0, waited = 0;
    for (int i = 0; i < 2; i++) {
        idle += meeting->peers[i].idle;
        waited += meeting->peers[i].waited;
        peer_close(&meeting->peers[i]);
    }
    bench_add(meeting->bench, "mlp", "the peer's processor time while it waits",
              idle / waited * 100, "%", 1, "%s", "");
    bench_add(meeting->bench, "mlp", "lathe's processor time while the peer works",
              meeting->disturbing / meeting->worked * 100, "%", 1, "%s", "");
}

/* It may take minutes; people see how far it is. */
static void show_round(int round, int rounds) {
    if (isatty(2)) fprintf(stderr, "round %d of %d\r", round, rounds);
}

void bench_mlps(struct bench *bench) {
    struct meeting *meeting = calloc(1, sizeof *meeting);
    if (meeting == NULL) bench_give_up("out of memory");
    meeting->bench = bench;
    meeting->patience = bench->rounds * (int)CONTENDERS;
    meeting->waiting = bench->rounds * WAITING;
    if (bench->peer != NULL) meet_peers(meeting);
    for (size_t i = 0; i < CONTENDERS; i++) {
        struct side *side = &meeting->sides[i];
        snprintf(side->lathe.name, sizeof side->lathe.name, "lathe");
        side->session = open_session(bench, &contenders[i]);
        bench_time_steps(side->session, STEPS);
    }
    for (int i = 0; i < 20; i++) look_at_peak(meeting, 1);
    for (int round = 0; round < bench->rounds; round++) {
        show_round(round + 1, bench->rounds);
        for (size_t i = 0; i < CONTENDERS; i++) take_turns(meeting, i);
    }
    if (bench->peer != NULL) bench_head("lathe", "torch");
    for (size_t i = 0; i < CONTENDERS; i++) report_contender(meeting, i);
    report_own(meeting);
    if (bench->peer != NULL) report_fairness(meeting);
    for (size_t i = 0; i < CONTENDERS; i++) bench_close(meeting->sides[i].session);
    free(meeting);
}
