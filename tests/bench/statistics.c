/* SPDX-License-Identifier: MIT */
/* Time, and the two numbers that a series is known by: its median and its best. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
    return count % 2 ? values[count / 2]
                     : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void series_add(struct bench_series *series, double value) {
    if (series->count == BENCH_ROUNDS_MAX) bench_give_up("too many rounds");
    series->values[series->count++] = value;
}

/* The series keeps the order of its rounds. */
double series_median(const struct bench_series *series) {
    double sorted[BENCH_ROUNDS_MAX];
    memcpy(sorted, series->values, sizeof sorted);
    return bench_median(sorted, (size_t)series->count);
}

double series_best(const struct bench_series *series) {
    double best = series->values[0];
    for (int i = 1; i < series->count; i++)
        if (series->values[i] < best) best = series->values[i];
    return best;
}
