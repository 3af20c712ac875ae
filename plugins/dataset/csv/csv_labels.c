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

static int64_t find_class(const struct maker *maker, const struct csv_field *name) {
    for (int64_t i = 0; i < maker->name_count; i++)
        if (!csv_compare(name, &maker->names[i])) return i;
    return -1;
}

static lathe_status take_names(const struct maker *maker, struct csv_labels *made) {
    made->classes = maker->name_count;
    made->names = csv_join(maker->names, maker->name_count);
    if (!made->names) return csv_table_no_memory(maker->table);
    for (int64_t i = 0; i < maker->count; i++) {
        const struct csv_label *label = &maker->labels[i];
        int64_t number = find_class(maker, &label->field);
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

/* As it stands in JSON, its quotes included; returns the length, 0 when there is no
 * room. */
static size_t quote_name(const struct csv_field *name, char *to, size_t size) {
    char text[128];
    size_t used = 0, length = csv_text(name, text, sizeof text);
    if (length >= sizeof text || size < 6 * length + 3) return 0;
    to[used++] = '"';
    for (const char *at = text; *at; at++) {
        if (*at == '"' || *at == '\\') to[used++] = '\\';
        if ((unsigned char)*at < ' ')
            used += (size_t)snprintf(to + used, 7, "\\u%04x", (unsigned)*at);
        else
            to[used++] = *at;
    }
    to[used++] = '"';
    return used;
}

/* A file alone cannot number its texts: another one of the experiment, which has
 * other texts, would number them otherwise, and nobody could tell. So the experiment
 * does; the line for it is printed. */
static lathe_status ask_for_names(struct maker *maker) {
    char list[300];
    size_t used = 0;
    int64_t shown = 0;
    lathe_status status = sort_names(maker);
    if (status) return status;
    for (; shown < maker->name_count; shown++) {
        size_t between = shown ? 2 : 0;
        size_t length = quote_name(&maker->names[shown], list + used + between,
                                   sizeof list - used - between);
        if (!length) break;
        memcpy(list + used, ", ", between);
        used += between + length;
    }
    list[used] = '\0';
    return lathe_fail(
        maker->table->host, LATHE_EINVAL,
        "%s: labels that are text need an order, the same for every file; add "
        "\"classes\": [%s%s]%s",
        maker->table->path, list, shown < maker->name_count ? ", …" : "",
        shown < maker->name_count ? " with all that there are" : "");
}

static lathe_status make_names(struct maker *maker, struct csv_labels *made) {
    int64_t listed = lathe_count(maker->table->host, "classes");
    int64_t most = listed ? listed : maker->count;
    maker->names = calloc((size_t)most, sizeof *maker->names);
    if (!maker->names) return csv_table_no_memory(maker->table);
    maker->name_count = listed;
    lathe_status status = listed ? take_option_names(maker) : ask_for_names(maker);
    if (!status) status = take_names(maker, made);
    free(maker->names);
    return status;
}

static lathe_status make_classes(struct maker *maker, struct csv_labels *made) {
    const struct csv_table *table = maker->table;
    made->numbers = calloc((size_t)maker->count, sizeof *made->numbers);
    if (!made->numbers) return csv_table_no_memory(maker->table);
    if (lathe_count(table->host, "classes")) return make_names(maker, made);
    if (table->is_sklearn && table->header_count > 2) {
        const int64_t count = table->header_count - 2;
        made->names = csv_join(table->header + 2, count);
        return made->names ? take_class_numbers(maker, count, made)
                           : csv_table_no_memory(table);
    }
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
