/* SPDX-License-Identifier: MIT */
/* All rows as JSON, each with the series it comes from; and how the program ends when
 * it cannot go on. */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

static void say(const char *format, va_list arguments) {
    fflush(stdout);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
}

void bench_give_up(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    exit(70);
}

void bench_miss(const char *packages, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    fprintf(stderr, "as root, run\napt-get install -y --no-install-recommends %s\n",
            packages);
    exit(69);
}

static void add_text(struct text *text, const char *key, const char *value) {
    text_format(text, "\"%s\": ", key);
    text_json_string(text, value);
}

static void add_number(struct text *text, const char *key, double value) {
    text_format(text, ", \"%s\": ", key);
    text_json_number(text, value);
}

static void add_series(struct text *text, const struct bench_series *series) {
    if (series->count == 0) return;
    text_add(text, ",\n      ");
    text_json_string(text, series->name);
    text_add(text, ": { \"unit\": \"ms\"");
    add_number(text, "median", series_median(series));
    add_number(text, "best", series_best(series));
    text_add(text, ", \"rounds\": [");
    for (int i = 0; i < series->count; i++) {
        if (i > 0) text_add(text, ", ");
        text_json_number(text, series->values[i]);
    }
    text_add(text, "] }");
}

static void add_row(struct text *text, const struct bench_row *row) {
    static const char *const bounds[] = {NULL, "at most", "at least"};
    text_add(text, "{ ");
    add_text(text, "part", row->part);
    text_add(text, ", ");
    add_text(text, "name", row->name);
    add_number(text, "value", row->value);
    text_add(text, ", ");
    add_text(text, "unit", row->unit);
    if (row->bound != BENCH_NO_BOUND) {
        text_add(text, ", ");
        add_text(text, "bound", bounds[row->bound]);
        add_number(text, "limit", row->limit);
    }
    text_add(text, ", ");
    add_text(text, "note", row->note);
    if (row->over.count > 0) add_number(text, "best", row->best);
    add_series(text, &row->under);
    add_series(text, &row->over);
    text_add(text, " }");
}

static void write_all(struct text *text, const struct bench *bench) {
    text_add(text, "{\n  ");
    add_text(text, "when", bench->when);
    text_add(text, ",\n  ");
    add_text(text, "machine", bench->machine);
    text_add(text, ",\n  ");
    add_text(text, "peer", bench->peers);
    text_add(text, ",\n  ");
    add_text(text, "ignored", bench->ignored);
    text_add(text, ",\n  \"rows\": [");
    for (size_t i = 0; i < bench->row_count; i++) {
        text_add(text, i == 0 ? "\n    " : ",\n    ");
        add_row(text, &bench->rows[i]);
    }
    text_add(text, "\n  ]\n}\n");
}

bool bench_save(const struct bench *bench, const char *path) {
    char own[512];
    if (path == NULL) {
        snprintf(own, sizeof own, "%.400s/bench", bench->build);
        mkdir(own, 0777);
        snprintf(own, sizeof own, "%.400s/bench/%s.json", bench->build, bench->when);
        path = own;
    }
    struct text text = {0};
    write_all(&text, bench);
    FILE *file = text.is_broken ? NULL : fopen(path, "we");
    bool is_saved =
        file != NULL && fwrite(text.data, 1, text.length, file) == text.length;
    if (file != NULL && fclose(file) != 0) is_saved = false;
    if (is_saved) printf("\nsaved   %s\n", path);
    if (!is_saved) fprintf(stderr, "bench: %s cannot be written\n", path);
    text_finish(&text);
    return is_saved;
}
