/* SPDX-License-Identifier: MIT */
#include "csv_labels.h"

#include <stdlib.h>
#include <string.h>

struct maker {
    const struct csv_table *table;
    int64_t column;
    const struct csv_label *labels;
    int64_t count;
    /* Names of classes in the order of their numbers; borrowed bytes. */
    struct csv_field *names;
    int64_t name_count;
};

static lathe_status fail_label(const struct maker *maker, int64_t index,
                               enum csv_number kind) {
    const struct csv_label *label = &maker->labels[index];
    return csv_table_fail(maker->table, label->line, maker->column, &label->field,
                          kind);
}

/* ---- regression ---- */

static lathe_status make_values(const struct maker *maker, struct csv_labels *made) {
    made->values = calloc((size_t)maker->count, sizeof *made->values);
    if (!made->values) return csv_table_no_memory(maker->table);
    for (int64_t i = 0; i < maker->count; i++) {
        enum csv_number kind =
            csv_read_number(&maker->labels[i].field, &made->values[i]);
        if (kind != CSV_NUMBER) return fail_label(maker, i, kind);
    }
    return LATHE_OK;
}

/* ---- classes that are numbers ---- */

/* -1: not the number of a class. */
static int32_t class_number(const struct csv_field *field) {
    float value;
    if (csv_read_number(field, &value) != CSV_NUMBER) return -1;
    if (!(value >= 0 && value < 0x1p24f)) return -1;
    return value == (float)(int32_t)value ? (int32_t)value : -1;
}

static int are_class_numbers(const struct maker *maker) {
    for (int64_t i = 0; i < maker->count; i++)
        if (class_number(&maker->labels[i].field) < 0) return 0;
    return 1;
}

/* limit 0: as many as the largest number says. */
static lathe_status take_class_numbers(const struct maker *maker, int64_t limit,
                                       struct csv_labels *made) {
    made->classes = limit;
    for (int64_t i = 0; i < maker->count; i++) {
        int32_t number = class_number(&maker->labels[i].field);
        if (number < 0 || (limit && number >= limit))
            return lathe_fail(
                maker->table->host, LATHE_EDATA,
                "%s:%lld: the label is not a whole number from 0 to %lld, as "
                "the first line says",
                maker->table->path, (long long)maker->labels[i].line,
                (long long)limit - 1);
        made->numbers[i] = number;
        if (number >= made->classes) made->classes = (int64_t)number + 1;
    }
    return LATHE_OK;
}

/* ---- classes that are texts ---- */

static int compare_names(const void *a, const void *b) {
    return csv_compare(a, b);
}

static lathe_status take_option_names(struct maker *maker) {
    const lathe_host *host = maker->table->host;
    for (int64_t i = 0; i < maker->name_count; i++) {
        char path[40];
        snprintf(path, sizeof path, "classes/%lld", (long long)i);
        const char *name = lathe_string(host, path);
        maker->names[i] = (struct csv_field){name, (uint32_t)strlen(name), 0};
        for (int64_t j = 0; j < i; j++)
            if (!csv_compare(&maker->names[i], &maker->names[j]))
                return lathe_fail(host, LATHE_EINVAL, "classes: \"%s\" is there twice",
                                  name);
    }
    return LATHE_OK;
}

static lathe_status sort_names(struct maker *maker) {
    int64_t distinct = 0;
    for (int64_t i = 0; i < maker->count; i++) {
        float value;
        maker->names[i] = maker->labels[i].field;
        if (csv_read_number(&maker->names[i], &value) == CSV_MISSING)
            return fail_label(maker, i, CSV_MISSING);
    }
    qsort(maker->names, (size_t)maker->count, sizeof *maker->names, compare_names);
    for (int64_t i = 0; i < maker->count; i++)
        if (i == 0 || csv_compare(&maker->names[i], &maker->names[distinct - 1]))
            maker->names[distinct++] = maker->names[i];
    maker->name_count = distinct;
    return LATHE_OK;
}

static int64_t find_class(const struct maker *maker, const struct csv_field *name,
                          int is_sorted) {
    if (is_sorted) {
        const struct csv_field *found =
            bsearch(name, maker->names, (size_t)maker->name_count, sizeof *maker->names,
                    compare_names);
        return found ? found - maker->names : -1;
    }
    for (int64_t i = 0; i < maker->name_count; i++)
        if (!csv_compare(name, &maker->names[i])) return i;
    return -1;
}

static lathe_status take_names(const struct maker *maker, int is_sorted,
                               struct csv_labels *made) {
    made->classes = maker->name_count;
    for (int64_t i = 0; i < maker->count; i++) {
        const struct csv_label *label = &maker->labels[i];
        int64_t number = find_class(maker, &label->field, is_sorted);
        if (number < 0) {
            char text[64];
            csv_text(&label->field, text, sizeof text);
            return lathe_fail(maker->table->host, LATHE_EDATA,
                              "%s:%lld: label \"%s\" is not one of the %lld classes",
                              maker->table->path, (long long)label->line, text,
                              (long long)maker->name_count);
        }
        made->numbers[i] = (int32_t)number;
    }
    return LATHE_OK;
}

/* The order decides what every class number means, so it is shown. */
static void log_names(const struct maker *maker) {
    char line[480], name[64];
    size_t used =
        (size_t)snprintf(line, sizeof line, "%s: %lld classes:", maker->table->path,
                         (long long)maker->name_count);
    for (int64_t i = 0; i < maker->name_count && used < sizeof line; i++) {
        csv_text(&maker->names[i], name, sizeof name);
        used += (size_t)snprintf(line + used, sizeof line - used, "%s %s", i ? "," : "",
                                 name);
    }
    lathe_log(maker->table->host, LATHE_LOG_INFO, "%s", line);
}

static lathe_status make_names(struct maker *maker, struct csv_labels *made) {
    int64_t listed = lathe_count(maker->table->host, "classes");
    int64_t most = listed ? listed : maker->count;
    maker->names = calloc((size_t)most, sizeof *maker->names);
    if (!maker->names) return csv_table_no_memory(maker->table);
    maker->name_count = listed;
    lathe_status status = listed ? take_option_names(maker) : sort_names(maker);
    if (!status) status = take_names(maker, !listed, made);
    if (!status) log_names(maker);
    free(maker->names);
    return status;
}

static lathe_status make_classes(struct maker *maker, struct csv_labels *made) {
    const struct csv_table *table = maker->table;
    made->numbers = calloc((size_t)maker->count, sizeof *made->numbers);
    if (!made->numbers) return csv_table_no_memory(maker->table);
    if (lathe_count(table->host, "classes")) return make_names(maker, made);
    if (table->is_sklearn && table->header_count > 2)
        return take_class_numbers(maker, table->header_count - 2, made);
    if (are_class_numbers(maker)) return take_class_numbers(maker, 0, made);
    return make_names(maker, made);
}

/* ---- which of them ---- */

/* One typing error in a column of numbers must not turn it into classes. */
static lathe_status guess_task(const struct maker *maker, int *is_classes) {
    int64_t numbers = 0, odd = -1;
    float value;
    for (int64_t i = 0; i < maker->count; i++) {
        if (csv_read_number(&maker->labels[i].field, &value) == CSV_NOT_A_NUMBER)
            odd = odd < 0 ? i : odd;
        else
            numbers++;
    }
    *is_classes = numbers == 0;
    if (odd < 0 || numbers == 0) return LATHE_OK;
    char text[64];
    csv_text(&maker->labels[odd].field, text, sizeof text);
    return lathe_fail(
        maker->table->host, LATHE_EDATA,
        "%s:%lld: label \"%s\" is not a number, as %lld of %lld labels are; "
        "task: \"classification\" would take all as text",
        maker->table->path, (long long)maker->labels[odd].line, text,
        (long long)numbers, (long long)maker->count);
}

lathe_status csv_labels_make(const struct csv_table *table, int64_t column,
                             const struct csv_label *labels, int64_t count,
                             struct csv_labels *made) {
    struct maker maker = {table, column, labels, count, NULL, 0};
    const char *task = lathe_string(table->host, "task");
    int are_named = lathe_count(table->host, "classes") > 0;
    int is_classes = are_named || !strcmp(task, "classification") ||
                     (table->is_sklearn && table->header_count > 2);
    if (!strcmp(task, "regression")) {
        if (are_named)
            return lathe_fail(table->host, LATHE_EINVAL,
                              "classes are given, but task is \"regression\"");
        return make_values(&maker, made);
    }
    lathe_status status = is_classes ? LATHE_OK : guess_task(&maker, &is_classes);
    if (status) return status;
    return is_classes ? make_classes(&maker, made) : make_values(&maker, made);
}
