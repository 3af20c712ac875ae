/* SPDX-License-Identifier: MIT */
/* Models: the passes agree with one another. What they compute is the business of
 * gradient.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/model_fixture.h"
#include "check/tests.h"

#define CLOSE 1e-4 /* float sums in another order, as a share of what is summed */

static bool open_and_work(struct fixture *fixture, struct text *lines,
                          struct model_fixture *model) {
    if (!model_fixture_open(model, fixture, NULL)) return false;
    for (int round = 0; round < 2; round++) {
        const int64_t half = (model->rows + 1) / 2;
        const int64_t rows = round || half < model->least_rows ? model->rows : half;
        if (!model_fixture_forward(model, LATHE_TRAIN, 0, rows)) return false;
        fixture_write_number(lines, "loss", model->pass.loss_sum);
        fixture_write_number(lines, "weight", model->pass.weight_sum);
        fixture_pause(fixture);
        if (!model_fixture_backward(model, model->gradients, round)) return false;
    }
    for (int64_t i = 0; i < 2 * model->metric_count; i++)
        fixture_write_number(lines, "metric", model->metrics[i]);
    for (int64_t i = 0; i < model->parameters.count; i++) {
        const struct parameter *p = &model->parameters.items[i];
        text_add(lines, "gradient of ");
        fixture_write(lines, p->name, model->gradients + p->offset, p->count);
    }
    if (!model_fixture_forward(model, LATHE_EVALUATE, 0, model->rows)) return false;
    fixture_write_number(lines, "loss", model->pass.loss_sum);
    for (int64_t i = 0; i < model->output_count; i++)
        fixture_write_bytes(lines, "output", model->outputs[i],
                            model->rows * model->widths[i]);
    return true;
}

bool model_work(struct fixture *fixture, struct text *lines) {
    struct model_fixture model;
    const bool is_done = open_and_work(fixture, lines, &model);
    model_fixture_close(&model);
    return is_done;
}

static bool couples_rows(const struct model_fixture *model) {
    return (model->ops->flags & LATHE_COUPLES_ROWS) != 0;
}

static double size_of(const float *x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* Is each parameter's part of `found` that of `expected`? */
static bool compare(const struct model_fixture *model, const char *what,
                    const float *expected, const float *found) {
    for (int64_t i = 0; i < model->parameters.count; i++) {
        const struct parameter *p = &model->parameters.items[i];
        const float *a = expected + p->offset, *b = found + p->offset;
        const double size = size_of(a, p->count);
        if (!model->trainable[i]) continue;
        for (int64_t j = 0; j < p->count; j++) {
            const double off = fabs((double)a[j] - (double)b[j]);
            if (off <= CLOSE * size + 1e-30) continue;
            return check_fail(model->fixture->check,
                              "%s: the gradient of %s[%lld] is %.6g, not %.6g", what,
                              p->name, (long long)j, (double)b[j], (double)a[j]);
        }
    }
    return true;
}

/* ---- slices ---- */

static bool is_near(double expected, double found, double size) {
    return fabs(expected - found) <= CLOSE * (fabs(size) + fabs(expected)) + 1e-12;
}

static bool add_slices(struct model_fixture *model, float *sum, double *loss,
                       double *weight) {
    const int64_t cuts[] = {0, 1, model->rows / 2, model->rows};
    bool add = false;
    *loss = *weight = 0;
    for (int i = 0; i < 3; i++) {
        if (cuts[i] >= cuts[i + 1]) continue;
        if (!model_fixture_forward(model, LATHE_TRAIN, cuts[i],
                                   cuts[i + 1] - cuts[i]) ||
            !model_fixture_backward(model, sum, add))
            return false;
        *loss += model->pass.loss_sum;
        *weight += model->pass.weight_sum;
        add = true;
    }
    return true;
}

static bool compare_slices(struct model_fixture *model, float *sum) {
    struct check *check = model->fixture->check;
    double loss, weight, sliced_loss, sliced_weight;
    if (!model_fixture_forward(model, LATHE_TRAIN, 0, model->rows) ||
        !model_fixture_backward(model, model->gradients, false))
        return false;
    loss = model->pass.loss_sum;
    weight = model->pass.weight_sum;
    if (!add_slices(model, sum, &sliced_loss, &sliced_weight)) return false;
    if (!is_near(weight, sliced_weight, weight))
        return check_fail(check,
                          "weight_sum of %lld rows is %g, and over its slices %g: it "
                          "is to be a sum over rows",
                          (long long)model->rows, weight, sliced_weight);
    if (!is_near(loss, sliced_loss, loss))
        return check_fail(check,
                          "loss_sum of %lld rows is %.9g, and over its slices %.9g: it "
                          "is to be the sum of the rows' losses, not a mean",
                          (long long)model->rows, loss, sliced_loss);
    return compare(model, "the sum over slices is not the whole", model->gradients,
                   sum);
}

static bool slices(struct model_fixture *model) {
    if (couples_rows(model))
        return check_note(model->fixture->check,
                          "it couples rows: a slice is a batch of "
                          "its own"),
               true;
    float *sum = model_fixture_block(model);
    const bool is_well = sum ? compare_slices(model, sum)
                             : check_fail(model->fixture->check, "out of memory");
    block_destroy(sum, model->parameters.size);
    return is_well;
}

void test_model_slices(struct check *check) {
    model_fixture_each(check, slices);
}

/* ---- overwrite and add ---- */

static bool finite_everywhere(const struct model_fixture *model, const float *block) {
    for (int64_t i = 0; i < model->parameters.count; i++) {
        const struct parameter *p = &model->parameters.items[i];
        for (int64_t j = 0; j < p->count; j++)
            if (!isfinite(block[p->offset + j]))
                return check_fail(model->fixture->check,
                                  "with add = 0, backward leaves %s[%lld] as it was or "
                                  "makes it %g: it is to overwrite every gradient",
                                  p->name, (long long)j, (double)block[p->offset + j]);
    }
    return true;
}

static bool adding(struct model_fixture *model) {
    struct check *check = model->fixture->check;
    float *twice = model_fixture_block(model);
    bool is_well = twice && model_fixture_forward(model, LATHE_TRAIN, 0, model->rows) &&
                   model_fixture_backward(model, twice, false) &&
                   finite_everywhere(model, twice);
    if (is_well) memcpy(model->gradients, twice, (size_t)model->parameters.size * 4);
    is_well = is_well && model_fixture_forward(model, LATHE_TRAIN, 0, model->rows) &&
              model_fixture_backward(model, twice, true);
    for (int64_t i = 0; is_well && i < model->parameters.count; i++) {
        const struct parameter *p = &model->parameters.items[i];
        const double size = size_of(model->gradients + p->offset, p->count);
        for (int64_t j = 0; is_well && j < p->count; j++) {
            const double once = (double)model->gradients[p->offset + j];
            const double found = (double)twice[p->offset + j];
            if (fabs(found - 2 * once) > CLOSE * size + 1e-30)
                is_well = check_fail(
                    check,
                    "with add = 1, the gradient of %s[%lld] becomes %.6g where %.6g is "
                    "added to %.6g%s",
                    p->name, (long long)j, found, once, once,
                    fabs(found - once) <= CLOSE * size ? ": `add` is ignored" : "");
        }
    }
    block_destroy(twice, model->parameters.size);
    return is_well;
}

void test_model_adding(struct check *check) {
    model_fixture_each(check, adding);
}

/* ---- frozen parameters ---- */

/* What is frozen has no place in the gradient block; nor has what lies between. */
static bool untouched(const struct model_fixture *model, const float *block) {
    for (int64_t i = 0, next = 0; i <= model->parameters.count; i++) {
        const struct parameter *p =
            i < model->parameters.count
                ? &model->parameters.items[model->parameters.by_offset[i]]
                : NULL;
        const int64_t index =
            p ? model->parameters.by_offset[i] : model->parameters.count;
        for (int64_t j = next; j < (p ? p->offset : model->parameters.size); j++)
            if (!isnan(block[j]))
                return check_fail(model->fixture->check,
                                  "backward wrote beside its parameters, at float %lld "
                                  "of the gradient block",
                                  (long long)j);
        if (!p) break;
        next = p->offset + p->count;
        for (int64_t j = 0; !model->trainable[index] && j < p->count; j++)
            if (!isnan(block[p->offset + j]))
                return check_fail(model->fixture->check,
                                  "backward wrote a gradient of %s, which is frozen "
                                  "(layout->trainable is 0)",
                                  p->name);
    }
    return true;
}

static bool frozen_as_set(struct model_fixture *model, float *block) {
    for (int64_t i = 0; i < model->parameters.size; i++) block[i] = NAN;
    return model_fixture_bind(model, model->rows) &&
           model_fixture_forward(model, LATHE_TRAIN, 0, model->rows) &&
           model_fixture_backward(model, block, false) && untouched(model, block) &&
           compare(model, "when others are frozen", model->gradients, block);
}

static bool frozen(struct model_fixture *model) {
    const int64_t count = model->parameters.count;
    float *block = model_fixture_block(model);
    bool is_well = block && model_fixture_forward(model, LATHE_TRAIN, 0, model->rows) &&
                   model_fixture_backward(model, model->gradients, false);
    if (is_well) is_well = frozen_as_set(model, block);
    /* Each alone frozen, each alone trained; then all but buffers. */
    for (int64_t i = 0; is_well && i < 2 * count && i < 64; i++) {
        for (int64_t j = 0; j < count; j++) {
            const bool is_buffer = model->parameters.items[j].flags & LATHE_BUFFER;
            model->trainable[j] = is_buffer || (j == i / 2) == (i % 2 == 1);
        }
        is_well = frozen_as_set(model, block);
    }
    block_destroy(block, model->parameters.size);
    return is_well;
}

void test_model_frozen(struct check *check) {
    model_fixture_each(check, frozen);
}

/* ---- describe and bind ---- */

static bool describe(struct model_fixture *model) {
    struct parameters again = {0};
    struct error err = {0};
    struct check *check = model->fixture->check;
    const int64_t outputs = model->output_count, metrics = model->metric_count;
    bool is_well = model_fixture_describe(model, &again, NULL);
    if (is_well && parameters_compare(&model->parameters, &again, &err) != LATHE_OK)
        is_well = check_fail(check, "describe says another thing the second time: %s",
                             err.what);
    if (is_well && (outputs != model->output_count || metrics != model->metric_count))
        is_well =
            check_fail(check,
                       "describe declares %lld outputs and %lld metrics, "
                       "then %lld and %lld",
                       (long long)outputs, (long long)metrics,
                       (long long)model->output_count, (long long)model->metric_count);
    model->output_count = outputs;
    parameters_finish(&again);
    return is_well && model_fixture_bind(model, model->rows) &&
           model_fixture_forward(model, LATHE_TRAIN, 0, model->rows);
}

void test_model_describe(struct check *check) {
    model_fixture_each(check, describe);
}

/* The same weights and gradients, with the parameters in the other order. */
static bool bind_reversed(struct model_fixture *model) {
    const struct parameters *ps = &model->parameters;
    float *weights = model_fixture_block(model), *turned = model_fixture_block(model);
    float *back = model_fixture_block(model);
    int64_t next = 0;
    bool is_well = weights && turned && back;
    for (int64_t i = ps->count - 1; is_well && i >= 0; i--) {
        const struct parameter *p = &ps->items[ps->by_offset[i]];
        model->offsets[ps->by_offset[i]] = next;
        memcpy(weights + next, model->weights + p->offset, (size_t)p->count * 4);
        next += (p->count + 15) / 16 * 16;
    }
    float *own = model->weights;
    if (is_well) model->weights = weights;
    is_well = is_well && model_fixture_bind(model, model->rows + 5) &&
              model_fixture_forward(model, LATHE_TRAIN, 0, model->rows) &&
              model_fixture_backward(model, turned, false);
    model->weights = own;
    for (int64_t i = 0; is_well && i < ps->count; i++)
        memcpy(back + ps->items[i].offset, turned + model->offsets[i],
               (size_t)ps->items[i].count * 4);
    is_well = is_well && compare(model, "after bind came again with another layout",
                                 model->gradients, back);
    block_destroy(weights, ps->size);
    block_destroy(turned, ps->size);
    block_destroy(back, ps->size);
    return is_well;
}

static bool bind(struct model_fixture *model) {
    return model_fixture_forward(model, LATHE_TRAIN, 0, model->rows) &&
           model_fixture_backward(model, model->gradients, false) &&
           bind_reversed(model);
}

void test_model_bind(struct check *check) {
    model_fixture_each(check, bind);
}
