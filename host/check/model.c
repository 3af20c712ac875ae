/* SPDX-License-Identifier: MIT */
/* Models: the passes agree with one another. What they compute is the business of
 * gradient.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/desk.h"
#include "check/tests.h"

#define CLOSE 1e-4 /* float sums in another order, as a share of what is summed */

static bool open_and_work(struct bench *bench, struct text *lines, struct desk *desk) {
    if (!desk_open(desk, bench, NULL)) return false;
    for (int round = 0; round < 2; round++) {
        const int64_t half = (desk->rows + 1) / 2;
        const int64_t rows = round || half < desk->least_rows ? desk->rows : half;
        if (!desk_forward(desk, LATHE_TRAIN, 0, rows)) return false;
        bench_write_number(lines, "loss", desk->pass.loss_sum);
        bench_write_number(lines, "weight", desk->pass.weight_sum);
        bench_pause(bench);
        if (!desk_backward(desk, desk->gradients, round)) return false;
    }
    for (int64_t i = 0; i < 2 * desk->metric_count; i++)
        bench_write_number(lines, "metric", desk->metrics[i]);
    for (int64_t i = 0; i < desk->parameters.count; i++) {
        const struct parameter *p = &desk->parameters.items[i];
        text_add(lines, "gradient of ");
        bench_write(lines, p->name, desk->gradients + p->offset, p->count);
    }
    if (!desk_forward(desk, LATHE_EVALUATE, 0, desk->rows)) return false;
    bench_write_number(lines, "loss", desk->pass.loss_sum);
    for (int64_t i = 0; i < desk->output_count; i++)
        bench_write_bytes(lines, "output", desk->outputs[i],
                          desk->rows * desk->widths[i]);
    return true;
}

bool model_work(struct bench *bench, struct text *lines) {
    struct desk desk;
    const bool is_done = open_and_work(bench, lines, &desk);
    desk_close(&desk);
    return is_done;
}

static bool couples_rows(const struct desk *desk) {
    return (desk->ops->flags & LATHE_COUPLES_ROWS) != 0;
}

static double size_of(const float *x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* Is each parameter's part of `found` that of `expected`? */
static bool compare(const struct desk *desk, const char *what, const float *expected,
                    const float *found) {
    for (int64_t i = 0; i < desk->parameters.count; i++) {
        const struct parameter *p = &desk->parameters.items[i];
        const float *a = expected + p->offset, *b = found + p->offset;
        const double size = size_of(a, p->count);
        if (!desk->trainable[i]) continue;
        for (int64_t j = 0; j < p->count; j++) {
            const double off = fabs((double)a[j] - (double)b[j]);
            if (off <= CLOSE * size + 1e-30) continue;
            return check_fail(desk->bench->check,
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

static bool add_slices(struct desk *desk, float *sum, double *loss, double *weight) {
    const int64_t cuts[] = {0, 1, desk->rows / 2, desk->rows};
    bool add = false;
    *loss = *weight = 0;
    for (int i = 0; i < 3; i++) {
        if (cuts[i] >= cuts[i + 1]) continue;
        if (!desk_forward(desk, LATHE_TRAIN, cuts[i], cuts[i + 1] - cuts[i]) ||
            !desk_backward(desk, sum, add))
            return false;
        *loss += desk->pass.loss_sum;
        *weight += desk->pass.weight_sum;
        add = true;
    }
    return true;
}

static bool compare_slices(struct desk *desk, float *sum) {
    struct check *check = desk->bench->check;
    double loss, weight, sliced_loss, sliced_weight;
    if (!desk_forward(desk, LATHE_TRAIN, 0, desk->rows) ||
        !desk_backward(desk, desk->gradients, false))
        return false;
    loss = desk->pass.loss_sum;
    weight = desk->pass.weight_sum;
    if (!add_slices(desk, sum, &sliced_loss, &sliced_weight)) return false;
    if (!is_near(weight, sliced_weight, weight))
        return check_fail(check,
                          "weight_sum of %lld rows is %g, and over its slices %g: it "
                          "is to be a sum over rows",
                          (long long)desk->rows, weight, sliced_weight);
    if (!is_near(loss, sliced_loss, loss))
        return check_fail(check,
                          "loss_sum of %lld rows is %.9g, and over its slices %.9g: it "
                          "is to be the sum of the rows' losses, not a mean",
                          (long long)desk->rows, loss, sliced_loss);
    return compare(desk, "the sum over slices is not the whole", desk->gradients, sum);
}

static bool slices(struct desk *desk) {
    if (couples_rows(desk))
        return check_note(desk->bench->check, "it couples rows: a slice is a batch of "
                                              "its own"),
               true;
    float *sum = desk_block(desk);
    const bool is_well = sum ? compare_slices(desk, sum)
                             : check_fail(desk->bench->check, "out of memory");
    block_destroy(sum, desk->parameters.size);
    return is_well;
}

void test_model_slices(struct check *check) {
    desk_each(check, slices);
}

/* ---- overwrite and add ---- */

static bool finite_everywhere(const struct desk *desk, const float *block) {
    for (int64_t i = 0; i < desk->parameters.count; i++) {
        const struct parameter *p = &desk->parameters.items[i];
        for (int64_t j = 0; j < p->count; j++)
            if (!isfinite(block[p->offset + j]))
                return check_fail(desk->bench->check,
                                  "with add = 0, backward leaves %s[%lld] as it was or "
                                  "makes it %g: it is to overwrite every gradient",
                                  p->name, (long long)j, (double)block[p->offset + j]);
    }
    return true;
}

static bool adding(struct desk *desk) {
    struct check *check = desk->bench->check;
    float *twice = desk_block(desk);
    bool is_well = twice && desk_forward(desk, LATHE_TRAIN, 0, desk->rows) &&
                   desk_backward(desk, twice, false) && finite_everywhere(desk, twice);
    if (is_well) memcpy(desk->gradients, twice, (size_t)desk->parameters.size * 4);
    is_well = is_well && desk_forward(desk, LATHE_TRAIN, 0, desk->rows) &&
              desk_backward(desk, twice, true);
    for (int64_t i = 0; is_well && i < desk->parameters.count; i++) {
        const struct parameter *p = &desk->parameters.items[i];
        const double size = size_of(desk->gradients + p->offset, p->count);
        for (int64_t j = 0; is_well && j < p->count; j++) {
            const double once = (double)desk->gradients[p->offset + j];
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
    block_destroy(twice, desk->parameters.size);
    return is_well;
}

void test_model_adding(struct check *check) {
    desk_each(check, adding);
}

/* ---- frozen parameters ---- */

/* What is frozen has no place in the gradient block; nor has what lies between. */
static bool untouched(const struct desk *desk, const float *block) {
    for (int64_t i = 0, next = 0; i <= desk->parameters.count; i++) {
        const struct parameter *p =
            i < desk->parameters.count
                ? &desk->parameters.items[desk->parameters.by_offset[i]]
                : NULL;
        const int64_t index =
            p ? desk->parameters.by_offset[i] : desk->parameters.count;
        for (int64_t j = next; j < (p ? p->offset : desk->parameters.size); j++)
            if (!isnan(block[j]))
                return check_fail(desk->bench->check,
                                  "backward wrote beside its parameters, at float %lld "
                                  "of the gradient block",
                                  (long long)j);
        if (!p) break;
        next = p->offset + p->count;
        for (int64_t j = 0; !desk->trainable[index] && j < p->count; j++)
            if (!isnan(block[p->offset + j]))
                return check_fail(desk->bench->check,
                                  "backward wrote a gradient of %s, which is frozen "
                                  "(layout->trainable is 0)",
                                  p->name);
    }
    return true;
}

static bool frozen_as_set(struct desk *desk, float *block) {
    for (int64_t i = 0; i < desk->parameters.size; i++) block[i] = NAN;
    return desk_bind(desk, desk->rows) &&
           desk_forward(desk, LATHE_TRAIN, 0, desk->rows) &&
           desk_backward(desk, block, false) && untouched(desk, block) &&
           compare(desk, "when others are frozen", desk->gradients, block);
}

static bool frozen(struct desk *desk) {
    const int64_t count = desk->parameters.count;
    float *block = desk_block(desk);
    bool is_well = block && desk_forward(desk, LATHE_TRAIN, 0, desk->rows) &&
                   desk_backward(desk, desk->gradients, false);
    if (is_well) is_well = frozen_as_set(desk, block);
    /* Each alone frozen, each alone trained; then all but buffers. */
    for (int64_t i = 0; is_well && i < 2 * count && i < 64; i++) {
        for (int64_t j = 0; j < count; j++) {
            const bool is_buffer = desk->parameters.items[j].flags & LATHE_BUFFER;
            desk->trainable[j] = is_buffer || (j == i / 2) == (i % 2 == 1);
        }
        is_well = frozen_as_set(desk, block);
    }
    block_destroy(block, desk->parameters.size);
    return is_well;
}

void test_model_frozen(struct check *check) {
    desk_each(check, frozen);
}

/* ---- describe and bind ---- */

static bool describe(struct desk *desk) {
    struct parameters again = {0};
    struct error err = {0};
    struct check *check = desk->bench->check;
    const int64_t outputs = desk->output_count, metrics = desk->metric_count;
    bool is_well = desk_describe(desk, &again, NULL);
    if (is_well && parameters_compare(&desk->parameters, &again, &err) != LATHE_OK)
        is_well = check_fail(check, "describe says another thing the second time: %s",
                             err.what);
    if (is_well && (outputs != desk->output_count || metrics != desk->metric_count))
        is_well =
            check_fail(check,
                       "describe declares %lld outputs and %lld metrics, "
                       "then %lld and %lld",
                       (long long)outputs, (long long)metrics,
                       (long long)desk->output_count, (long long)desk->metric_count);
    desk->output_count = outputs;
    parameters_finish(&again);
    return is_well && desk_bind(desk, desk->rows) &&
           desk_forward(desk, LATHE_TRAIN, 0, desk->rows);
}

void test_model_describe(struct check *check) {
    desk_each(check, describe);
}

/* The same weights and gradients, with the parameters in the other order. */
static bool bind_reversed(struct desk *desk) {
    const struct parameters *ps = &desk->parameters;
    float *weights = desk_block(desk), *turned = desk_block(desk);
    float *back = desk_block(desk);
    int64_t next = 0;
    bool is_well = weights && turned && back;
    for (int64_t i = ps->count - 1; is_well && i >= 0; i--) {
        const struct parameter *p = &ps->items[ps->by_offset[i]];
        desk->offsets[ps->by_offset[i]] = next;
        memcpy(weights + next, desk->weights + p->offset, (size_t)p->count * 4);
        next += (p->count + 15) / 16 * 16;
    }
    float *own = desk->weights;
    if (is_well) desk->weights = weights;
    is_well = is_well && desk_bind(desk, desk->rows + 5) &&
              desk_forward(desk, LATHE_TRAIN, 0, desk->rows) &&
              desk_backward(desk, turned, false);
    desk->weights = own;
    for (int64_t i = 0; is_well && i < ps->count; i++)
        memcpy(back + ps->items[i].offset, turned + desk->offsets[i],
               (size_t)ps->items[i].count * 4);
    is_well = is_well && compare(desk, "after bind came again with another layout",
                                 desk->gradients, back);
    block_destroy(weights, ps->size);
    block_destroy(turned, ps->size);
    block_destroy(back, ps->size);
    return is_well;
}

static bool bind(struct desk *desk) {
    return desk_forward(desk, LATHE_TRAIN, 0, desk->rows) &&
           desk_backward(desk, desk->gradients, false) && bind_reversed(desk);
}

void test_model_bind(struct check *check) {
    desk_each(check, bind);
}
