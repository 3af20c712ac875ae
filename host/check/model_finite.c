/* SPDX-License-Identifier: MIT */
/* Models: large inputs are no reason for infinite numbers, and an accuracy is a
 * share. */
#include <math.h>

#include "check/desk.h"
#include "check/tests.h"

#define LARGE 1e3f
#define ROUNDED 1e-6 /* of a share that is 1 */

static bool is_share(struct desk *desk, const char *when) {
    if (desk->accuracy < 0) return true;
    const double sum = desk->metrics[2 * desk->accuracy];
    const double weight = desk->metrics[2 * desk->accuracy + 1];
    if (weight >= 0 && sum >= 0 && sum <= weight * (1 + ROUNDED)) return true;
    return check_fail(desk->bench->check,
                      "the metric \"accuracy\" is %g of %g %s: it must be 0 to 1", sum,
                      weight, when);
}

/* Every number of the inputs by its sign. False: there are none. */
static bool enlarge(struct desk *desk) {
    const struct data_set *set = &desk->bench->session->data[SPLIT_TRAIN];
    bool has_any = false;
    for (uint32_t i = 0; i < desk->batch.field_count; i++) {
        const lathe_field *field = &set->fields[i];
        if (field->code != LATHE_FLOAT || field->bits != 32 || desk_is_label(desk, i))
            continue;
        float *x = desk->tensors[i].data;
        const size_t count = bench_bytes(field, desk->rows) / sizeof *x;
        for (size_t j = 0; j < count; j++) x[j] = x[j] < 0 ? -LARGE : LARGE;
        has_any = has_any || count;
    }
    return has_any;
}

static bool judge(struct desk *desk) {
    struct check *check = desk->bench->check;
    if (!isfinite(desk->pass.loss_sum)) {
        check_warn(check,
                   "with inputs of %g and -%g the loss is %g; is the largest number "
                   "subtracted before exp?",
                   (double)LARGE, (double)LARGE, desk->pass.loss_sum);
        return true;
    }
    if (!desk_backward(desk, desk->gradients, false)) return false;
    for (int64_t i = 0; i < desk->parameters.count; i++) {
        const struct parameter *p = &desk->parameters.items[i];
        for (int64_t j = 0; desk_is_trained(desk, i) && j < p->count; j++) {
            const double gradient = (double)desk->gradients[p->offset + j];
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

static bool stays_finite(struct desk *desk) {
    if (!desk_forward(desk, LATHE_EVALUATE, 0, desk->rows) ||
        !is_share(desk, "in LATHE_EVALUATE") ||
        !desk_forward(desk, LATHE_TRAIN, 0, desk->rows) ||
        !is_share(desk, "in LATHE_TRAIN"))
        return false;
    if (!enlarge(desk)) return true;
    return desk_forward(desk, LATHE_TRAIN, 0, desk->rows) &&
           is_share(desk, "with large inputs") && judge(desk);
}

void test_model_finite(struct check *check) {
    desk_each(check, stays_finite);
}
