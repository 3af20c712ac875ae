/* SPDX-License-Identifier: MIT */
/* What the parts of `./dev bench` share: where things are, how a number is reported,
 * and how a session is turned by hand. Not a test: nothing fails here but what cannot
 * run. README.md beside this file says what is compared and how. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lathe/session.h>

#define FASHION "/usr/share/datasets/fashion-mnist/"
#define BENCH_ROWS_MAX 64
#define BENCH_ROUNDS_MAX 32

enum bench_bound { BENCH_NO_BOUND = 0, BENCH_AT_MOST, BENCH_AT_LEAST };

/* What one side of a comparison needed, round by round. */
struct bench_series {
    char name[24];
    int count;
    double values[BENCH_ROUNDS_MAX];
};

struct bench_row {
    char part[16], name[96], unit[16];
    double value;
    enum bench_bound bound;
    double limit;
    char note[128];
    /* Only where two are compared: `value` is the ratio of medians, over / under. */
    double best; /* ratio of the bests */
    struct bench_series under, over;
};

struct bench {
    const char *source, *build; /* directories */
    const char *scratch;        /* a directory of our own, removed at exit */
    const char *peer;           /* "torch", or NULL: lathe alone */
    int rounds;                 /* of the parts that compare */
    char machine[256], peers[256], ignored[160], when[24];
    struct bench_row rows[BENCH_ROWS_MAX];
    size_t row_count;
};

/* ---- report.c ---- */
/* A row of one number, which should be at most `limit`; below 0: no limit. */
__attribute__((format(printf, 7, 8))) void bench_add(struct bench *bench,
                                                     const char *part, const char *name,
                                                     double value, const char *unit,
                                                     double limit, const char *note,
                                                     ...);
/* Any row: part, name, unit, value, bound, limit and note are the caller's. */
void bench_add_row(struct bench *bench, const struct bench_row *row);
/* The head of a table of comparisons, in milliseconds. */
void bench_head(const char *under, const char *over);
/* A line of it. `row` has part, name, bound, limit, note, under and over; the ratios
 * are found here. */
void bench_compare(struct bench *bench, struct bench_row *row);
void bench_describe_machine(struct bench *bench);

/* ---- statistics.c ---- */
double bench_seconds(void);
/* Sorts the values. */
double bench_median(double *values, size_t count);
void series_add(struct bench_series *series, double value);
double series_median(const struct bench_series *series);
double series_best(const struct bench_series *series); /* the least */

/* ---- save.c ---- */
/* Writes all rows as JSON to `path`, or to a file of the time's name under the build
 * directory when it is NULL, and says where. */
bool bench_save(const struct bench *bench, const char *path);
/* Ends the program with a message and a status: 70, or 69 for what is not installed. */
__attribute__((noreturn, format(printf, 1, 2))) void bench_give_up(const char *format,
                                                                   ...);
__attribute__((noreturn, format(printf, 2, 3))) void bench_miss(const char *packages,
                                                                const char *format,
                                                                ...);

/* ---- session.c ---- */
/* Opens an experiment (path or text) with overrides and begins its first epoch.
 * `linked`, if any, are the plugins that are in this program. */
lathe_session *bench_open(const struct bench *bench, const char *experiment,
                          const char *const *overrides,
                          const lathe_linked_plugin *const *linked);
/* The same of a run that writes into a directory of its own. */
lathe_session *bench_open_in(const struct bench *bench, const char *directory,
                             const char *experiment, const char *const *overrides,
                             const lathe_linked_plugin *const *linked);
/* One step, and the next epoch when one is over. */
void bench_step(lathe_session *session);
/* Seconds of so many steps, after a few that bring the caches back. */
double bench_time_steps(lathe_session *session, int steps);
void bench_close(lathe_session *session);
/* An MLP 784-512-256-10 on Fashion-MNIST, batch 64, plain SGD; for overrides. */
extern const char bench_mlp[];
/* Of its products alone, in one step: forward, gradients of the weights, and what goes
 * back to all but the first layer. */
double bench_mlp_flops(int batch);

/* ---- start.c ---- */
/* Runs a program with its output in a file that is opened so, and waits. Seconds it
 * took. */
double bench_spawn(char *const *argv, const char *output, int flags);

/* ---- peak.c ---- */
/* Multiply-adds at full speed on so many threads (1 or 2), in GFLOP/s. */
double peak_measure(int threads);
/* Did two threads have two cores? */
bool peak_is_doubled(double one, double two);
const char *peak_instructions(void);

/* ---- exchange.c ---- */
/* Nanoseconds that a cache line takes from one thread to another and back. */
double exchange_measure(void);

/* ---- count.c ---- */
/* Calls of malloc and its kin by the whole process so far. */
int64_t count_allocations(void);

/* ---- the parts ---- */
void bench_steps(struct bench *bench);
void bench_start(struct bench *bench);
void bench_scan(struct bench *bench);
void bench_memory(struct bench *bench);
void bench_warm(struct bench *bench);
void bench_host(struct bench *bench);
void bench_mlps(struct bench *bench);
void bench_static(struct bench *bench);
void bench_words(struct bench *bench);
void bench_saving(struct bench *bench);

#endif
