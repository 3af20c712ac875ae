/* SPDX-License-Identifier: MIT */
/* Models: to evaluate is nothing random, and to predict is the same without labels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check/desk.h"
#include "check/tests.h"

#define CLOSE 1e-4 /* as a share of the numbers' size */
#define FIELDS_MAX 64

static double typical_size(const float *x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += (double)x[i] * (double)x[i];
    return count ? sqrt(sum / (double)count) : 0;
}

static bool compare_outputs(struct desk *desk, char *const *expected) {
    for (int64_t i = 0; i < desk->output_count; i++) {
        const int64_t floats = desk->rows * desk->widths[i] / 4;
        const float *a = (const float *)(const void *)expected[i],
                    *b = desk->outputs[i];
        const double size = typical_size(a, floats);
        for (int64_t j = 0; j < floats; j++)
            if (!(fabs((double)a[j] - (double)b[j]) <= CLOSE * size) && a[j] != b[j])
                return check_fail(desk->bench->check,
                                  "output %lld is %.7g in predict and %.7g in evaluate "
                                  "(number %lld)",
                                  (long long)i, (double)b[j], (double)a[j],
                                  (long long)j);
    }
    return true;
}

/* Labels are not there: there is no pointer, or one to memory that nobody may read. In
 * a run it would be memory that nobody has written. */
static bool predict_without_labels(struct desk *desk, char *const *kept,
                                   bool is_poisoned) {
    const struct data_set *set = &desk->bench->session->data[SPLIT_TRAIN];
    void *own[FIELDS_MAX] = {NULL}, *poison[FIELDS_MAX] = {NULL};
    size_t bytes[FIELDS_MAX] = {0};
    for (uint32_t i = 0; i < desk->batch.field_count && i < FIELDS_MAX; i++) {
        own[i] = desk->tensors[i].data;
        if (!desk_is_label(desk, i)) continue;
        bytes[i] = bench_bytes(&set->fields[i], desk->rows);
        poison[i] = mmap(NULL, bytes[i], PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        desk->tensors[i].data =
            is_poisoned && poison[i] != MAP_FAILED ? poison[i] : NULL;
    }
    const bool is_well =
        desk_forward(desk, LATHE_PREDICT, 0, desk->rows) && compare_outputs(desk, kept);
    for (uint32_t i = 0; i < desk->batch.field_count && i < FIELDS_MAX; i++) {
        desk->tensors[i].data = own[i];
        if (poison[i] && poison[i] != MAP_FAILED) munmap(poison[i], bytes[i]);
    }
    return is_well;
}

static bool evaluate_then_predict(struct desk *desk, char **kept, float *weights) {
    struct check *check = desk->bench->check;
    const size_t block = (size_t)desk->parameters.size * sizeof(float);
    if (!desk_forward(desk, LATHE_EVALUATE, 0, desk->rows)) return false;
    const double loss = desk->pass.loss_sum;
    if (memcmp(weights, desk->weights, block) != 0)
        return check_fail(check, "forward wrote into the weights");
    for (int64_t i = 0; i < desk->output_count; i++) {
        const size_t bytes = (size_t)(desk->rows * desk->widths[i]);
        kept[i] = malloc(bytes + 1);
        if (!kept[i]) return check_fail(check, "out of memory");
        memcpy(kept[i], desk->outputs[i], bytes);
        memset(desk->outputs[i], 0xff, bytes);
    }
    if (!desk_forward(desk, LATHE_EVALUATE, 0, desk->rows)) return false;
    if (!check_same(&loss, &desk->pass.loss_sum, sizeof loss))
        return check_fail(check,
                          "evaluating twice gives %.17g, then %.17g: there is "
                          "something random in it",
                          loss, desk->pass.loss_sum);
    return predict_without_labels(desk, kept, false) &&
           predict_without_labels(desk, kept, true);
}

static bool predict(struct desk *desk) {
    char *kept[DESK_OUTPUTS] = {NULL};
    const size_t bytes = (size_t)desk->parameters.size * sizeof(float);
    float *weights = desk_block(desk);
    if (weights) memcpy(weights, desk->weights, bytes);
    const bool is_well = weights && evaluate_then_predict(desk, kept, weights);
    if (is_well && !desk->output_count)
        check_warn(desk->bench->check, "it declares no outputs: nothing to predict");
    for (int i = 0; i < DESK_OUTPUTS; i++) free(kept[i]);
    block_destroy(weights, desk->parameters.size);
    return is_well;
}

void test_model_predict(struct check *check) {
    desk_each(check, predict);
}
