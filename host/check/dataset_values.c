/* SPDX-License-Identifier: MIT */
/* Datasets: numbers are finite, and categories are among the classes that were
 * declared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/fixture.h"
#include "check/tests.h"

#define SAMPLES_MAX 4096

static bool judge_integers(struct check *check, const lathe_field *field,
                           const void *row, int64_t width, int64_t index) {
    for (int64_t i = 0; i < width && field->classes > 0; i++) {
        int64_t value = 0;
        if (field->bits == 32 && field->code == LATHE_INT)
            value = ((const int32_t *)row)[i];
        else if (field->bits == 64)
            value = ((const int64_t *)row)[i];
        else if (field->bits == 8)
            value = ((const uint8_t *)row)[i];
        if (value < 0 || value >= field->classes)
            return check_fail(check,
                              "\"%s\" of sample %lld is %lld, and it has classes "
                              "0 to %lld",
                              field->name, (long long)index, (long long)value,
                              (long long)field->classes - 1);
    }
    return true;
}

static int64_t count_strange(const lathe_field *field, const void *row, int64_t width) {
    int64_t count = 0;
    for (int64_t i = 0; i < width; i++)
        count += field->bits == 32   ? !isfinite(((const float *)row)[i])
                 : field->bits == 64 ? !isfinite(((const double *)row)[i])
                                     : 0;
    return count;
}

static bool judge(struct check *check, const struct data_set *set, lathe_tensor *row,
                  int64_t index, int64_t *strange) {
    for (int64_t i = 0; i < set->field_count; i++) {
        int64_t width = 1;
        for (uint32_t j = 0; j < set->fields[i].rank; j++)
            width *= set->fields[i].shape[j];
        if (set->fields[i].code == LATHE_FLOAT)
            *strange += count_strange(&set->fields[i], row[i].data, width);
        else if (!judge_integers(check, &set->fields[i], row[i].data, width, index))
            return false;
    }
    return true;
}

static void read_some(struct fixture *fixture, struct data_set *set,
                      lathe_tensor *row) {
    const lathe_dataset_ops *ops = set->plugin.ops;
    const int64_t step = set->samples / SAMPLES_MAX + 1;
    int64_t strange = 0, first_strange = -1;
    for (int64_t index = 0; index < set->samples; index += step) {
        const lathe_batch batch = {.size = sizeof batch,
                                   .field_count = (uint32_t)set->field_count,
                                   .rows = 1,
                                   .position = index,
                                   .fields = row};
        check_doing(fixture->check, "read of sample %lld", (long long)index);
        lathe_status status = ops->read(set->plugin.self, &index, &batch);
        if (!fixture_went_well(fixture, &set->plugin, status, "read") ||
            !judge(fixture->check, set, row, index, &strange))
            return;
        if (strange && first_strange < 0) first_strange = index;
    }
    if (strange)
        check_warn(fixture->check,
                   "%lld numbers are NaN or infinite, first in sample %lld",
                   (long long)strange, (long long)first_strange);
}

void test_dataset_values(struct check *check) {
    struct fixture fixture;
    if (!fixture_open(&fixture, check, NULL, NULL)) return;
    struct data_set *set = &fixture.session->data[SPLIT_TRAIN];
    lathe_tensor *row = calloc((size_t)set->field_count + 1, sizeof *row);
    bool is_whole = row != NULL;
    for (int64_t i = 0; is_whole && i < set->field_count; i++) {
        size_t bytes;
        row[i] = fixture_tensor(&set->fields[i], 1, 0, &bytes);
        is_whole = row[i].data != NULL;
    }
    if (is_whole)
        read_some(&fixture, set, row);
    else
        check_fail(check, "out of memory");
    for (int64_t i = 0; row && i < set->field_count; i++) free(row[i].data);
    free(row);
    fixture_close(&fixture);
}
