/* SPDX-License-Identifier: MIT */
/* Models: to evaluate is nothing random, and to predict is the same without labels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check/model_fixture.h"
#include "check/tests.h"

#define CLOSE 1e-4 /* as a share of the numbers' size */
#define FIELDS_MAX 64

static double typical_size(const float *x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += (double)x[i] * (double)x[i];
    return count ? sqrt(sum / (double)count) : 0;
}

static bool compare_outputs(struct model_fixture *model, char *const *expected) {
    for (int64_t i = 0; i < model->output_count; i++) {
        const int64_t floats = model->rows * model->widths[i] / 4;
        const float *a = (const float *)(const void *)expected[i],
                    *b = model->outputs[i];
        const double size = typical_size(a, floats);
        for (int64_t j = 0; j < floats; j++)
            if (!(fabs((double)a[j] - (double)b[j]) <= CLOSE * size) && a[j] != b[j])
                return check_fail(model->fixture->check,
                                  "output %lld is %.7g in predict and %.7g in evaluate "
                                  "(number %lld)",
                                  (long long)i, (double)b[j], (double)a[j],
                                  (long long)j);
    }
    return true;
}

/* Labels are not there: there is no pointer, or one to memory that nobody may read. In
 * a run it would be memory that nobody has written. */
static bool predict_without_labels(struct model_fixture *model, char *const *kept,
                                   bool is_poisoned) {
    const struct data_set *set = &model->fixture->session->data[SPLIT_TRAIN];
    void *own[FIELDS_MAX] = {NULL}, *poison[FIELDS_MAX] = {NULL};
    size_t bytes[FIELDS_MAX] = {0};
    for (uint32_t i = 0; i < model->batch.field_count && i < FIELDS_MAX; i++) {
        own[i] = model->tensors[i].data;
        if (!model_fixture_is_label(model, i)) continue;
        bytes[i] = fixture_bytes(&set->fields[i], model->rows);
        poison[i] = mmap(NULL, bytes[i], PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        model->tensors[i].data =
            is_poisoned && poison[i] != MAP_FAILED ? poison[i] : NULL;
    }
    const bool is_well = model_fixture_forward(model, LATHE_PREDICT, 0, model->rows) &&
                         compare_outputs(model, kept);
    for (uint32_t i = 0; i < model->batch.field_count && i < FIELDS_MAX; i++) {
        model->tensors[i].data = own[i];
        if (poison[i] && poison[i] != MAP_FAILED) munmap(poison[i], bytes[i]);
    }
    return is_well;
}

static bool evaluate_then_predict(struct model_fixture *model, char **kept,
                                  float *weights) {
    struct check *check = model->fixture->check;
    const size_t block = (size_t)model->parameters.size * sizeof(float);
    if (!model_fixture_forward(model, LATHE_EVALUATE, 0, model->rows)) return false;
    const double loss = model->pass.loss_sum;
    if (memcmp(weights, model->weights, block) != 0)
        return check_fail(check, "forward wrote into the weights");
    for (int64_t i = 0; i < model->output_count; i++) {
        const size_t bytes = (size_t)(model->rows * model->widths[i]);
        kept[i] = malloc(bytes + 1);
        if (!kept[i]) return check_fail(check, "out of memory");
        memcpy(kept[i], model->outputs[i], bytes);
        memset(model->outputs[i], 0xff, bytes);
    }
    if (!model_fixture_forward(model, LATHE_EVALUATE, 0, model->rows)) return false;
    if (!check_same(&loss, &model->pass.loss_sum, sizeof loss))
        return check_fail(check,
                          "evaluating twice gives %.17g, then %.17g: there is "
                          "something random in it",
                          loss, model->pass.loss_sum);
    return predict_without_labels(model, kept, false) &&
           predict_without_labels(model, kept, true);
}

static bool predict(struct model_fixture *model) {
    char *kept[MODEL_OUTPUTS] = {NULL};
    const size_t bytes = (size_t)model->parameters.size * sizeof(float);
    float *weights = model_fixture_block(model);
    if (weights) memcpy(weights, model->weights, bytes);
    const bool is_well = weights && evaluate_then_predict(model, kept, weights);
    if (is_well && !model->output_count)
        check_warn(model->fixture->check, "it declares no outputs: nothing to predict");
    for (int i = 0; i < MODEL_OUTPUTS; i++) free(kept[i]);
    block_destroy(weights, model->parameters.size);
    return is_well;
}

void test_model_predict(struct check *check) {
    model_fixture_each(check, predict);
}
