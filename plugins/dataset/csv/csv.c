/* SPDX-License-Identifier: MIT */
/* A CSV file as samples: "input", the feature columns as 32-bit floats, and "label", a
 * class (32-bit integer) or a number to come near (32-bit float). All of it is parsed
 * and checked once, in create. No scaling, no filling in of missing values: that is
 * another tool's. */
#include <stdlib.h>
#include <string.h>

#include <lathe/dataset.h>

#include "csv_labels.h"

struct csv {
    int64_t count, features;
    float *values; /* [count, features] */
    char *names;   /* of the features, one a line; NULL: they have none */
    int has_labels;
    struct csv_labels labels;
};

/* What create needs and nobody afterwards. */
struct reading {
    struct csv_table table;
    int64_t *feature_columns; /* [features] */
    int64_t label_column;     /* -1: none */
    int64_t capacity;         /* rows there is room for */
    struct csv_label *labels;
};

/* ---- columns ---- */

static lathe_status choose_listed(struct reading *reading, struct csv *csv) {
    for (int64_t i = 0; i < csv->features; i++) {
        char path[40];
        int64_t *column = &reading->feature_columns[i];
        snprintf(path, sizeof path, "features/%lld", (long long)i);
        lathe_status status = csv_table_column(&reading->table, path, column);
        if (status) return status;
        if (*column == reading->label_column)
            return lathe_fail(reading->table.host, LATHE_EINVAL,
                              "features.%lld is the label too", (long long)i);
    }
    return LATHE_OK;
}

/* By name and not as they stand: files of one experiment may have their columns in
 * another order, and what would then be mixed up nobody could tell. */
static lathe_status choose_others(struct reading *reading, struct csv *csv) {
    int64_t *column = reading->feature_columns;
    for (int64_t i = 0; i < reading->table.columns; i++)
        if (i != reading->label_column) *column++ = i;
    return csv_table_sort(&reading->table, reading->feature_columns, csv->features);
}

static lathe_status choose_columns(struct reading *reading, struct csv *csv) {
    const struct csv_table *table = &reading->table;
    int64_t listed = lathe_count(table->host, "features");
    reading->label_column = -1;
    csv->has_labels = lathe_has(table->host, "label");
    if (csv->has_labels) {
        lathe_status status = csv_table_column(table, "label", &reading->label_column);
        if (status) return status;
    }
    csv->features = listed ? listed : table->columns - csv->has_labels;
    if (csv->features == 0)
        return lathe_fail(table->host, LATHE_EDATA,
                          "%s has no column but the label; is the delimiter right?",
                          table->path);
    reading->feature_columns = calloc((size_t)csv->features, sizeof(int64_t));
    if (!reading->feature_columns) return csv_table_no_memory(&reading->table);
    lathe_status status =
        listed ? choose_listed(reading, csv) : choose_others(reading, csv);
    /* Who counts columns does not care what they are called. */
    if (status || (listed && !*lathe_string(table->host, "features/0"))) return status;
    return csv_table_names(table, reading->feature_columns, csv->features, &csv->names);
}

/* ---- rows ---- */

static lathe_status make_room(struct reading *reading, struct csv *csv) {
    if (csv->count < reading->capacity) return LATHE_OK;
    size_t rows = reading->capacity ? (size_t)reading->capacity * 2 : 256;
    if (rows > SIZE_MAX / 4 / sizeof(float) / (size_t)csv->features)
        return csv_table_no_memory(&reading->table);
    float *values =
        realloc(csv->values, rows * (size_t)csv->features * sizeof *csv->values);
    if (!values) return csv_table_no_memory(&reading->table);
    csv->values = values;
    if (csv->has_labels) {
        struct csv_label *labels =
            realloc(reading->labels, rows * sizeof *reading->labels);
        if (!labels) return csv_table_no_memory(&reading->table);
        reading->labels = labels;
    }
    reading->capacity = (int64_t)rows;
    return LATHE_OK;
}

static lathe_status add_row(struct reading *reading, struct csv *csv) {
    const struct csv_table *table = &reading->table;
    int64_t line = table->cursor.record_line;
    lathe_status status = make_room(reading, csv);
    if (status) return status;
    float *values = csv->values + csv->count * csv->features;
    for (int64_t i = 0; i < csv->features; i++) {
        int64_t column = reading->feature_columns[i];
        enum csv_number kind = csv_read_number(&table->row[column], &values[i]);
        if (kind != CSV_NUMBER)
            return csv_table_fail(table, line, column, &table->row[column], kind);
    }
    if (csv->has_labels)
        reading->labels[csv->count] =
            (struct csv_label){table->row[reading->label_column], line};
    csv->count++;
    return LATHE_OK;
}

static lathe_status read_file(struct reading *reading, const lathe_host *host,
                              struct csv *csv) {
    lathe_status status = csv_table_open(&reading->table, host);
    if (!status) status = choose_columns(reading, csv);
    while (!status) {
        status = csv_table_next(&reading->table);
        if (!status) status = add_row(reading, csv);
    }
    if (status != LATHE_END) return status;
    if (!csv->has_labels) return LATHE_OK;
    return csv_labels_make(&reading->table, reading->label_column, reading->labels,
                           csv->count, &csv->labels);
}

/* ---- the plugin ---- */

static void destroy(void *self) {
    struct csv *csv = self;
    free(csv->values);
    free(csv->names);
    free(csv->labels.numbers);
    free(csv->labels.values);
    free(csv->labels.names);
    free(csv);
}

static lathe_status create(const lathe_host *host, void **self) {
    struct reading reading = {0};
    struct csv *csv = calloc(1, sizeof *csv);
    if (!csv) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    lathe_status status = read_file(&reading, host, csv);
    csv_table_finish(&reading.table);
    free(reading.feature_columns);
    free(reading.labels);
    if (status)
        destroy(csv);
    else
        *self = csv;
    return status;
}

static lathe_status describe(void *self, const lathe_data_plan *plan) {
    const struct csv *csv = self;
    lathe_field input = {.size = sizeof input,
                         .rank = 1,
                         .name = "input",
                         .code = LATHE_FLOAT,
                         .bits = 32,
                         .shape = {csv->features},
                         .names = csv->names};
    lathe_field label = {.size = sizeof label,
                         .name = "label",
                         .code = csv->labels.classes ? LATHE_INT : LATHE_FLOAT,
                         .bits = 32,
                         .classes = csv->labels.classes,
                         .names = csv->labels.names};
    lathe_status status = plan->field(plan, &input);
    if (!status && csv->has_labels) status = plan->field(plan, &label);
    if (!status) plan->samples(plan, csv->count);
    return status;
}

static lathe_status read_samples(void *self, const int64_t *indices,
                                 const lathe_batch *into) {
    const struct csv *csv = self;
    float *input = into->fields[0].data;
    for (int64_t row = 0; row < into->rows; row++)
        memcpy(input + row * csv->features, csv->values + indices[row] * csv->features,
               (size_t)csv->features * sizeof *input);
    if (!csv->has_labels) return LATHE_OK;
    int32_t *numbers = into->fields[1].data;
    float *values = into->fields[1].data;
    for (int64_t row = 0; row < into->rows; row++) {
        if (csv->labels.classes)
            numbers[row] = csv->labels.numbers[indices[row]];
        else
            values[row] = csv->labels.values[indices[row]];
    }
    return LATHE_OK;
}

LATHE_DATASET(.create = create, .destroy = destroy, .describe = describe,
              .read = read_samples);
