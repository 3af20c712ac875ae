/* SPDX-License-Identifier: MIT */
/* What the parts of `./dev bench` share: where things are, how a number is reported,
 * and how a session is turned by hand. Not a test: nothing fails here but what cannot
 * run. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lathe/session.h>

#define FASHION "/usr/share/datasets/fashion-mnist/"
#define BENCH_ROWS_MAX 64

struct bench_row {
    char part[16], name[96], unit[16];
    double value;
    double limit; /* value should not be more; below 0: none */
    char note[96];
};

struct bench {
    const char *source, *build; /* directories */
    const char *scratch;        /* a directory of our own, removed at exit */
    char machine[256];
    struct bench_row rows[BENCH_ROWS_MAX];
    size_t row_count;
};

/* ---- report.c ---- */
__attribute__((format(printf, 7, 8))) void bench_add(struct bench *bench,
                                                     const char *part, const char *name,
                                                     double value, const char *unit,
                                                     double limit, const char *note,
                                                     ...);
void bench_describe_machine(struct bench *bench);
bool bench_save(const struct bench *bench, const char *path);
double bench_seconds(void);
/* Sorts the values. */
double bench_median(double *values, size_t count);
/* Ends the program with a message. */
__attribute__((noreturn, format(printf, 1, 2))) void bench_give_up(const char *format,
                                                                   ...);

/* ---- session.c ---- */
/* Opens an experiment (path or text) with overrides and begins its first epoch. */
lathe_session *bench_open(const struct bench *bench, const char *experiment,
                          const char *const *overrides);
/* One step, and the next epoch when one is over. */
void bench_step(lathe_session *session);
void bench_close(lathe_session *session);

/* ---- peak.c ---- */
/* Multiply-adds at full speed on so many threads (1 or 2), in GFLOP/s. */
double peak_measure(int threads);
const char *peak_instructions(void);

/* ---- count.c ---- */
/* Calls of malloc and its kin by the whole process so far. */
int64_t count_allocations(void);

/* ---- the parts ---- */
void bench_steps(struct bench *bench);
void bench_start(struct bench *bench);
void bench_memory(struct bench *bench);
void bench_warm(struct bench *bench);
void bench_host(struct bench *bench);

#endif
