/* SPDX-License-Identifier: MIT */
#include "csv_table.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN 64 /* bytes of a field in a message */

lathe_status csv_table_no_memory(const struct csv_table *table) {
    return lathe_fail(table->host, LATHE_ENOMEM, "%s: out of memory", table->path);
}

static lathe_status fail_line(const struct csv_table *table,
                              const struct csv_cursor *cursor) {
    return lathe_fail(table->host, LATHE_EDATA, "%s:%lld: %s", table->path,
                      (long long)cursor->line, cursor->fault);
}

/* How many fields the next record has; it stays the next. */
static lathe_status count_fields(const struct csv_table *table, int64_t *count) {
    struct csv_cursor probe = table->cursor;
    *count = csv_next(&probe, NULL, 0);
    if (*count < 0) return fail_line(table, &probe);
    if (*count == 0)
        return lathe_fail(table->host, LATHE_EDATA, "%s: holds no rows", table->path);
    return LATHE_OK;
}

static lathe_status make_fields(const struct csv_table *table, int64_t count,
                                struct csv_field **fields) {
    *fields = calloc((size_t)count, sizeof **fields);
    return *fields ? LATHE_OK : csv_table_no_memory(table);
}

static int is_whole(const struct csv_field *field, float *number) {
    return csv_read_number(field, number) == CSV_NUMBER && *number >= 0 &&
           *number <= 0x1p24f && *number == (float)(int32_t)*number;
}

static lathe_status check_sklearn_header(const struct csv_table *table) {
    float rows, features;
    if (table->header_count >= 2 && is_whole(&table->header[0], &rows) &&
        is_whole(&table->header[1], &features))
        return LATHE_OK;
    return lathe_fail(table->host, LATHE_EDATA,
                      "%s:1: a scikit-learn header is samples,features,class,class,…; "
                      "header: \"none\" reads it as data",
                      table->path);
}

static lathe_status read_header(struct csv_table *table) {
    const char *mode = lathe_string(table->host, "header");
    if (!strcmp(mode, "none")) return LATHE_OK;
    table->is_sklearn = !strcmp(mode, "sklearn");
    lathe_status status = count_fields(table, &table->header_count);
    if (!status) status = make_fields(table, table->header_count, &table->header);
    if (status) return status;
    csv_next(&table->cursor, table->header, table->header_count);
    return table->is_sklearn ? check_sklearn_header(table) : LATHE_OK;
}

lathe_status csv_table_open(struct csv_table *table, const lathe_host *host) {
    const void *bytes;
    int64_t count;
    float features;
    *table = (struct csv_table){.host = host, .path = lathe_string(host, "file")};
    lathe_status status = host->map(host, "file", &bytes, &count);
    if (status) return status;
    table->cursor = csv_begin(bytes, count, lathe_string(host, "delimiter")[0]);
    status = read_header(table);
    if (!status) status = count_fields(table, &table->columns);
    if (status) return status;
    if (table->is_sklearn) {
        csv_read_number(&table->header[1], &features);
        table->columns = (int64_t)features + 1;
    } else if (table->header) {
        table->columns = table->header_count;
    }
    return make_fields(table, table->columns, &table->row);
}

static lathe_status check_row_count(const struct csv_table *table) {
    float rows;
    if (!table->is_sklearn) return LATHE_OK;
    csv_read_number(&table->header[0], &rows);
    if ((int64_t)rows == table->rows) return LATHE_OK;
    return lathe_fail(table->host, LATHE_EDATA,
                      "%s: has %lld rows; its first line says %lld", table->path,
                      (long long)table->rows, (long long)rows);
}

lathe_status csv_table_next(struct csv_table *table) {
    struct csv_cursor *cursor = &table->cursor;
    int64_t count = csv_next(cursor, table->row, table->columns);
    if (count < 0) return fail_line(table, cursor);
    if (count == 0) {
        lathe_status status = check_row_count(table);
        return status ? status : LATHE_END;
    }
    if (count != table->columns)
        return lathe_fail(table->host, LATHE_EDATA,
                          "%s:%lld: expected %lld fields, got %lld", table->path,
                          (long long)cursor->record_line, (long long)table->columns,
                          (long long)count);
    table->rows++;
    return LATHE_OK;
}

/* ---- columns ---- */

static int has_names(const struct csv_table *table) {
    return table->header && !table->is_sklearn;
}

void csv_table_name(const struct csv_table *table, int64_t column, char *text,
                    size_t size) {
    char name[SHOWN];
    if (has_names(table)) {
        csv_text(&table->header[column], name, sizeof name);
        snprintf(text, size, "column \"%s\"", name);
    } else {
        snprintf(text, size, "column %lld", (long long)column);
    }
}

static lathe_status fail_no_column(const struct csv_table *table, const char *name) {
    char text[SHOWN], best[SHOWN] = "";
    size_t nearest = strlen(name) / 3 + 1;
    for (int64_t i = 0; i < table->header_count; i++) {
        csv_text(&table->header[i], text, sizeof text);
        size_t distance = csv_distance(name, text);
        if (distance > nearest || (*best && distance == nearest)) continue;
        nearest = distance;
        memcpy(best, text, sizeof best);
    }
    if (*best)
        return lathe_fail(table->host, LATHE_EINVAL,
                          "%s has no column \"%s\"; did you mean \"%s\"?", table->path,
                          name, best);
    csv_text(&table->header[0], text, sizeof text);
    if (table->header_count == 1)
        return lathe_fail(table->host, LATHE_EINVAL,
                          "%s has no column \"%s\", but one that is \"%s\"; is the "
                          "delimiter right?",
                          table->path, name, text);
    csv_text(&table->header[table->header_count - 1], best, sizeof best);
    return lathe_fail(table->host, LATHE_EINVAL,
                      "%s has no column \"%s\"; its %lld columns are \"%s\" to \"%s\"",
                      table->path, name, (long long)table->header_count, text, best);
}

static lathe_status fail_two_columns(const struct csv_table *table, int64_t first,
                                     int64_t second) {
    char name[SHOWN];
    csv_text(&table->header[first], name, sizeof name);
    return lathe_fail(table->host, LATHE_EDATA,
                      "%s has two columns \"%s\": %lld and %lld; use their indices",
                      table->path, name, (long long)first, (long long)second);
}

static lathe_status find_name(const struct csv_table *table, const char *name,
                              int64_t *column) {
    struct csv_field wanted = {name, (uint32_t)strlen(name), 0};
    int64_t found = -1;
    for (int64_t i = 0; i < table->columns; i++) {
        if (csv_compare(&table->header[i], &wanted)) continue;
        if (found >= 0) return fail_two_columns(table, found, i);
        found = i;
    }
    if (found < 0) return fail_no_column(table, name);
    *column = found;
    return LATHE_OK;
}

/* "3", where there are no names; -1 for what is no index. */
static int64_t parse_index(const char *text) {
    char *end;
    if (*text < '0' || *text > '9') return -1;
    long long value = strtoll(text, &end, 10);
    return *end ? -1 : value;
}

lathe_status csv_table_column(const struct csv_table *table, const char *path,
                              int64_t *column) {
    const char *name = lathe_string(table->host, path);
    if (*name && has_names(table)) return find_name(table, name, column);
    int64_t index = *name ? parse_index(name) : lathe_integer(table->host, path);
    if (*name && index < 0)
        return lathe_fail(
            table->host, LATHE_EINVAL,
            "%s: \"%s\" is a name, but header: \"%s\" gives columns none; use "
            "an index, 0 to %lld",
            table->path, name, lathe_string(table->host, "header"),
            (long long)table->columns - 1);
    if (index < 0 || index >= table->columns)
        return lathe_fail(table->host, LATHE_EINVAL,
                          "%s has no column %lld; its columns are 0 to %lld",
                          table->path, (long long)index, (long long)table->columns - 1);
    *column = index;
    return LATHE_OK;
}

struct named {
    const struct csv_field *name;
    int64_t column;
};

static int compare_named(const void *a, const void *b) {
    const struct named *first = a, *second = b;
    int order = csv_compare(first->name, second->name);
    return order ? order : first->column < second->column ? -1 : 1;
}

static void log_named(const struct csv_table *table, const struct named *named,
                      int64_t count) {
    char line[480], name[SHOWN];
    size_t used = (size_t)snprintf(
        line, sizeof line, "%.200s: %lld features:", table->path, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        if (used + sizeof name + 8 > sizeof line) {
            snprintf(line + used, sizeof line - used, ", …");
            break;
        }
        csv_text(named[i].name, name, sizeof name);
        used += (size_t)snprintf(line + used, sizeof line - used, "%s %s", i ? "," : "",
                                 name);
    }
    lathe_log(table->host, LATHE_LOG_INFO, "%s", line);
}

lathe_status csv_table_sort(const struct csv_table *table, int64_t *columns,
                            int64_t count) {
    if (!has_names(table)) return LATHE_OK;
    struct named *named = calloc((size_t)count, sizeof *named);
    if (!named) return csv_table_no_memory(table);
    for (int64_t i = 0; i < count; i++)
        named[i] = (struct named){&table->header[columns[i]], columns[i]};
    qsort(named, (size_t)count, sizeof *named, compare_named);
    lathe_status status = LATHE_OK;
    for (int64_t i = 0; i < count && !status; i++) {
        columns[i] = named[i].column;
        if (i && !csv_compare(named[i].name, named[i - 1].name))
            status = fail_two_columns(table, columns[i - 1], columns[i]);
    }
    if (!status) log_named(table, named, count);
    free(named);
    return status;
}

lathe_status csv_table_names(const struct csv_table *table, const int64_t *columns,
                             int64_t count, char **names) {
    *names = NULL;
    if (!has_names(table)) return LATHE_OK;
    struct csv_field *fields = calloc((size_t)count, sizeof *fields);
    for (int64_t i = 0; fields && i < count; i++) fields[i] = table->header[columns[i]];
    if (fields) *names = csv_join(fields, count);
    free(fields);
    return *names ? LATHE_OK : csv_table_no_memory(table);
}

lathe_status csv_table_fail(const struct csv_table *table, int64_t line, int64_t column,
                            const struct csv_field *field, enum csv_number kind) {
    static const char *const reasons[] = {
        [CSV_NOT_A_NUMBER] = "is not a number",
        [CSV_MISSING] =
            "is a missing value; fill it in, or leave the row or column out",
        [CSV_INFINITE] = "is more than a 32-bit float can hold",
    };
    char name[SHOWN + 16], text[SHOWN];
    csv_table_name(table, column, name, sizeof name);
    csv_text(field, text, sizeof text);
    return lathe_fail(table->host, LATHE_EDATA, "%s:%lld: %s: \"%s\" %s", table->path,
                      (long long)line, name, text, reasons[kind]);
}

void csv_table_finish(struct csv_table *table) {
    free(table->row);
    free(table->header);
}
