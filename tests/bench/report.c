/* SPDX-License-Identifier: MIT */
/* Rows for people as they come, and all of them as JSON at the end. */
#include "bench.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

void bench_give_up(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    exit(70);
}

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

void bench_add(struct bench *bench, const char *part, const char *name, double value,
               const char *unit, double limit, const char *note, ...) {
    if (bench->row_count == BENCH_ROWS_MAX) bench_give_up("too many rows");
    struct bench_row *row = &bench->rows[bench->row_count++];
    snprintf(row->part, sizeof row->part, "%s", part);
    snprintf(row->name, sizeof row->name, "%s", name);
    snprintf(row->unit, sizeof row->unit, "%s", unit);
    row->value = value;
    row->limit = limit;
    va_list arguments;
    va_start(arguments, note);
    vsnprintf(row->note, sizeof row->note, note, arguments);
    va_end(arguments);

    printf("%-7s %-46s %9.3f %-8s", part, name, value, unit);
    if (limit >= 0) printf(" %s %.3g", value <= limit ? "at most" : "OVER", limit);
    if (row->note[0] != '\0') printf("%s%s", limit >= 0 ? "; " : " ", row->note);
    printf("\n");
    fflush(stdout);
}

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

/* The kernel that OpenBLAS chose, or was told to choose by the environment. */
static void read_blas(char *name, size_t size) {
    snprintf(name, size, "no OpenBLAS");
    void *library = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) return;
    char *(*corename)(void);
    *(void **)(&corename) = dlsym(library, "openblas_get_corename");
    if (corename == NULL) return;
    snprintf(name, size, "OpenBLAS %.32s%s", corename(),
             getenv("OPENBLAS_CORETYPE") ? " (told by OPENBLAS_CORETYPE)" : "");
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
}

bool bench_save(const struct bench *bench, const char *path) {
    struct text text = {0};
    text_add(&text, "{\n  \"machine\": ");
    text_json_string(&text, bench->machine);
    text_add(&text, ",\n  \"rows\": [");
    for (size_t i = 0; i < bench->row_count; i++) {
        const struct bench_row *row = &bench->rows[i];
        text_add(&text, i == 0 ? "\n    { \"part\": " : ",\n    { \"part\": ");
        text_json_string(&text, row->part);
        text_add(&text, ", \"name\": ");
        text_json_string(&text, row->name);
        text_add(&text, ", \"value\": ");
        text_json_number(&text, row->value);
        text_add(&text, ", \"unit\": ");
        text_json_string(&text, row->unit);
        if (row->limit >= 0) {
            text_add(&text, ", \"limit\": ");
            text_json_number(&text, row->limit);
        }
        text_add(&text, ", \"note\": ");
        text_json_string(&text, row->note);
        text_add(&text, " }");
    }
    text_add(&text, "\n  ]\n}\n");
    FILE *file = text.is_broken ? NULL : fopen(path, "we");
    bool is_saved =
        file != NULL && fwrite(text.data, 1, text.length, file) == text.length;
    if (file != NULL && fclose(file) != 0) is_saved = false;
    if (!is_saved) fprintf(stderr, "bench: %s cannot be written\n", path);
    text_finish(&text);
    return is_saved;
}
