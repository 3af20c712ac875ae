/* SPDX-License-Identifier: MIT */
/* A CSV file as a table: header modes, columns by name or index, rows of equal length.
 * Failures are told to the host, with "file:line" where there is a line. */
#ifndef CSV_TABLE_H
#define CSV_TABLE_H

#include <lathe/host.h>

#include "csv_parse.h"

struct csv_table {
    const lathe_host *host;
    const char *path;
    struct csv_cursor cursor;
    int64_t columns, rows; /* rows: read so far */
    struct csv_field *row; /* [columns], of the last csv_table_next */
    /* The first line: column names, or scikit-learn's two counts and class names. */
    struct csv_field *header;
    int64_t header_count; /* 0, and NULL: data from the first line on */
    int is_sklearn;
};

/* Opens the "file" option and reads the first line. Finish it also when it failed. */
lathe_status csv_table_open(struct csv_table *table, const lathe_host *host);
/* LATHE_END after the last row. */
lathe_status csv_table_next(struct csv_table *table);
/* The column that the option at `path` names. */
lathe_status csv_table_column(const struct csv_table *table, const char *path,
                              int64_t *column);
/* Puts columns into the byte order of their names, which have to differ, and logs it.
 * Without names they stay. */
lathe_status csv_table_sort(const struct csv_table *table, int64_t *columns,
                            int64_t count);
/* What columns are called, one a line, the caller's to free; NULL: without names. */
lathe_status csv_table_names(const struct csv_table *table, const int64_t *columns,
                             int64_t count, char **names);
/* Says why a field of the column, at that line, is no number of `kind`. */
lathe_status csv_table_fail(const struct csv_table *table, int64_t line, int64_t column,
                            const struct csv_field *field, enum csv_number kind);
lathe_status csv_table_no_memory(const struct csv_table *table);
/* 'column "age"', or 'column 3'. */
void csv_table_name(const struct csv_table *table, int64_t column, char *text,
                    size_t size);
void csv_table_finish(struct csv_table *table);

#endif
