/* SPDX-License-Identifier: MIT */
/* Models: large inputs are no reason for infinite numbers, and an accuracy is a
 * share. */
#include <math.h>

#include "check/model_fixture.h"
#include "check/tests.h"

#define LARGE 1e3f
#define ROUNDED 1e-6 /* of a share that is 1 */

static bool is_share(struct model_fixture *model, const char *when) {
    if (model->accuracy < 0) return true;
    const double sum = model->metrics[2 * model->accuracy];
    const double weight = model->metrics[2 * model->accuracy + 1];
    if (weight >= 0 && sum >= 0 && sum <= weight * (1 + ROUNDED)) return true;
    return check_fail(model->fixture->check,
                      "the metric \"accuracy\" is %g of %g %s: it must be 0 to 1", sum,
                      weight, when);
}

/* Every number of the inputs by its sign. False: there are none. */
static bool enlarge(struct model_fixture *model) {
    const struct data_set *set = &model->fixture->session->data[SPLIT_TRAIN];
    bool has_any = false;
    for (uint32_t i = 0; i < model->batch.field_count; i++) {
        const lathe_field *field = &set->fields[i];
        if (field->code != LATHE_FLOAT || field->bits != 32 ||
            model_fixture_is_label(model, i))
            continue;
        float *x = model->tensors[i].data;
        const size_t count = fixture_bytes(field, model->rows) / sizeof *x;
        for (size_t j = 0; j < count; j++) x[j] = x[j] < 0 ? -LARGE : LARGE;
        has_any = has_any || count;
    }
    return has_any;
}

static bool judge(struct model_fixture *model) {
    struct check *check = model->fixture->check;
    if (!isfinite(model->pass.loss_sum)) {
        check_warn(check,
                   "with inputs of %g and -%g the loss is %g; is the largest number "
                   "subtracted before exp?",
                   (double)LARGE, (double)LARGE, model->pass.loss_sum);
        return true;
    }
    if (!model_fixture_backward(model, model->gradients, false)) return false;
    for (int64_t i = 0; i < model->parameters.count; i++) {
        const struct parameter *p = &model->parameters.items[i];
        for (int64_t j = 0; model_fixture_is_trained(model, i) && j < p->count; j++) {
            const double gradient = (double)model->gradients[p->offset + j];
            if (isfinite(gradient)) continue;
            check_warn(check,
                       "with inputs of %g and -%g the gradient of %s[%lld] is %g, and "
                       "the loss is finite",
                       (double)LARGE, (double)LARGE, p->name, (long long)j, gradient);
            return true;
        }
    }
    return true;
}

static bool stays_finite(struct model_fixture *model) {
    if (!model_fixture_forward(model, LATHE_EVALUATE, 0, model->rows) ||
        !is_share(model, "in LATHE_EVALUATE") ||
        !model_fixture_forward(model, LATHE_TRAIN, 0, model->rows) ||
        !is_share(model, "in LATHE_TRAIN"))
        return false;
    if (!enlarge(model)) return true;
    return model_fixture_forward(model, LATHE_TRAIN, 0, model->rows) &&
           is_share(model, "with large inputs") && judge(model);
}

void test_model_finite(struct check *check) {
    model_fixture_each(check, stays_finite);
}
