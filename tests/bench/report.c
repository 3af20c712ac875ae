/* SPDX-License-Identifier: MIT */
/* Rows for people, as they come, and what machine they are of. */
#include "bench.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static struct bench_row *keep(struct bench *bench, const struct bench_row *row) {
    if (bench->row_count == BENCH_ROWS_MAX) bench_give_up("too many rows");
    bench->rows[bench->row_count] = *row;
    return &bench->rows[bench->row_count++];
}

/* "at most 60", "UNDER 1.35"; a comparison is met by both of its ratios */
static void print_bound(const struct bench_row *row) {
    bool is_pair = row->over.count > 0;
    double least = is_pair ? fmin(row->value, row->best) : row->value;
    double most = is_pair ? fmax(row->value, row->best) : row->value;
    if (row->bound == BENCH_AT_MOST)
        printf(" %s %.4g", most <= row->limit ? "at most" : "OVER", row->limit);
    if (row->bound == BENCH_AT_LEAST)
        printf(" %s %.4g", least >= row->limit ? "at least" : "UNDER", row->limit);
    const char *gap = row->bound != BENCH_NO_BOUND ? "; " : " ";
    if (row->note[0] != '\0') printf("%s%s", gap, row->note);
    printf("\n");
    fflush(stdout);
}

void bench_add_row(struct bench *bench, const struct bench_row *row) {
    keep(bench, row);
    bool is_count = row->unit[0] == '\0' && row->value == (double)(int64_t)row->value;
    printf("%-7s %-46s %9.*f %-8s", row->part, row->name, is_count ? 0 : 3, row->value,
           row->unit);
    print_bound(row);
}

void bench_add(struct bench *bench, const char *part, const char *name, double value,
               const char *unit, double limit, const char *note, ...) {
    struct bench_row row = {.value = value, .limit = limit};
    row.bound = limit >= 0 ? BENCH_AT_MOST : BENCH_NO_BOUND;
    snprintf(row.part, sizeof row.part, "%s", part);
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.unit, sizeof row.unit, "%s", unit);
    va_list arguments;
    va_start(arguments, note);
    vsnprintf(row.note, sizeof row.note, note, arguments);
    va_end(arguments);
    bench_add_row(bench, &row);
}

void bench_head(const char *under, const char *over) {
    char first[32], second[32], ratio[64];
    snprintf(first, sizeof first, "%.20s, ms", under);
    snprintf(second, sizeof second, "%.20s, ms", over);
    snprintf(ratio, sizeof ratio, "%.20s / %.20s", over, under);
    printf("\n%-38s %18s %18s %16s\n", "", first, second, ratio);
    printf("%-38s %9s %8s %9s %8s %9s %6s\n", "", "median", "best", "median", "best",
           "medians", "bests");
}

void bench_compare(struct bench *bench, struct bench_row *row) {
    double under = series_median(&row->under), over = series_median(&row->over);
    double best_under = series_best(&row->under), best_over = series_best(&row->over);
    row->value = over / under;
    row->best = best_over / best_under;
    snprintf(row->unit, sizeof row->unit, "x");
    keep(bench, row);
    printf("%-7s %-30s %9.3f %8.3f %9.3f %8.3f %9.3f %6.3f", row->part, row->name,
           under, best_under, over, best_over, row->value, row->best);
    print_bound(row);
}

/* ---- the machine ---- */

static void read_cpu(char *name, size_t size) {
    char line[256];
    snprintf(name, size, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL) return;
    while (fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(name, size, "%s", colon + 2);
        break;
    }
    fclose(file);
}

/* The kernels that OpenBLAS chose. */
static void read_blas(char *name, size_t size) {
    snprintf(name, size, "no OpenBLAS");
    void *library = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) return;
    char *(*corename)(void);
    *(void **)(&corename) = dlsym(library, "openblas_get_corename");
    if (corename != NULL) snprintf(name, size, "OpenBLAS %.32s", corename());
}

void bench_describe_machine(struct bench *bench) {
    char cpu[96], blas[80];
    struct utsname system;
    read_cpu(cpu, sizeof cpu);
    read_blas(blas, sizeof blas);
    uname(&system);
    snprintf(bench->machine, sizeof bench->machine,
             "%s, %ld cores, %s; %s; Linux %.24s; cc %.24s", cpu,
             sysconf(_SC_NPROCESSORS_ONLN), peak_instructions(), blas, system.release,
             __VERSION__);
    printf("machine %s\n", bench->machine);
    if (bench->ignored[0] != '\0')
        printf("        ignored, for both sides: %s\n", bench->ignored);
    fflush(stdout);
}
