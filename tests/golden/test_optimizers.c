/* SPDX-License-Identifier: MIT */
/* 200 updates by every optimizer, through its plugin as built, against torch.optim or
 * the paper's formula in float64. */
#include "support/fake_host.h"

#include "golden.h"

#include <lathe/optimizer.h>

enum { MOST = 600, STEPS = 200, SLOTS = 3 };
static const double tolerance = 1e-5;

struct trial {
    const lathe_optimizer_ops *ops;
    void *self;
    const struct json *c;
    int64_t count;
    float weights[MOST], gradients[MOST], slots[SLOTS][MOST];
    double lr, worst;
};

static void update(struct trial *t, int64_t step) {
    float *const slots[SLOTS] = {t->slots[0], t->slots[1], t->slots[2]};
    double rate = t->lr * (double)(1 + step % 4) / 4;
    lathe_span span = {.size = sizeof span,
                       .flags = json_truth(json_get(t->c, "decays")) ? LATHE_DECAYS : 0,
                       .count = t->count,
                       .weights = t->weights,
                       .gradients = t->gradients,
                       .slots = slots,
                       .scale = golden_number(t->c, "scale"),
                       .rate = rate,
                       .step = step};
    if (!(t->ops->flags & LATHE_ELEMENTWISE)) {
        span.shape = &t->count;
        span.rank = 1;
    }
    array_fill(t->gradients, t->count, (float)golden_number(t->c, "span"),
               100 + (uint32_t)step);
    if (t->ops->begin) t->ops->begin(t->self, step, rate);
    assert_int_equal(t->ops->step(t->self, &span), LATHE_OK);
}

static void expect_slots(struct trial *t) {
    const struct json *slots = json_get(t->c, "slots");
    const char *const *names = NULL;
    int32_t count = t->ops->slots ? t->ops->slots(t->self, &names) : 0;
    assert_int_equal(count, json_size(slots));
    for (int32_t i = 0; i < count; i++) {
        const struct json *list = json_get(slots, names[i]);
        golden_expect(t->slots[i], (int64_t)json_size(list), list, tolerance, &t->worst,
                      names[i]);
    }
}

static double check_case(const lathe_optimizer_ops *ops, const char *manifest,
                         const struct json *c) {
    struct fake_host host;
    struct trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    char *options = golden_text(json_get(c, "options"));
    fake_host_init(&host, options);
    fake_host_manifest(&host, manifest);
    t->ops = ops;
    t->c = c;
    t->count = golden_whole(c, "count");
    t->lr = golden_number(json_get(c, "options"), "lr");
    assert_true(t->count <= MOST);
    assert_int_equal(ops->create(&host.table, &t->self), LATHE_OK);
    array_fill(t->weights, t->count, 1, 1);
    for (int64_t step = 1; step <= STEPS; step++) {
        char name[24];
        update(t, step);
        snprintf(name, sizeof name, "%lld", (long long)step);
        const struct json *list = json_get(json_get(c, "weights"), name);
        if (!list) continue;
        golden_expect(t->weights, (int64_t)json_size(list), list, tolerance, &t->worst,
                      options);
    }
    expect_slots(t);
    double worst = t->worst;
    ops->destroy(t->self);
    fake_host_finish(&host);
    free(options);
    free(t);
    return worst;
}

static void check(const char *name, size_t cases_wanted) {
    char file[64], manifest[64];
    snprintf(file, sizeof file, "optimizer-%s.json", name);
    snprintf(manifest, sizeof manifest, "optimizer/%s", name);
    struct json *root = golden_open(file);
    const struct json *cases = json_get(root, "cases");
    const lathe_optimizer_ops *ops = golden_plugin("optimizer", name);
    double worst = 0;
    assert_int_equal(json_size(cases), cases_wanted);
    for (size_t i = 0; i < json_size(cases); i++)
        worst = fmax(worst, check_case(ops, manifest, json_at(cases, i)));
    print_message("worst error: %.2g\n", worst);
    json_close(root);
}

static void sgd(void **state) {
    (void)state;
    check("sgd", 9);
}

static void adamw(void **state) {
    (void)state;
    check("adamw", 6);
}

static void rmsprop(void **state) {
    (void)state;
    check("rmsprop", 7);
}

static void lion(void **state) {
    (void)state;
    check("lion", 3);
}

static void lamb(void **state) {
    (void)state;
    check("lamb", 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd),  cmocka_unit_test(adamw), cmocka_unit_test(rmsprop),
        cmocka_unit_test(lion), cmocka_unit_test(lamb),
    };
    return cmocka_run_group_tests_name("optimizers against torch and the papers", tests,
                                       NULL, NULL);
}
