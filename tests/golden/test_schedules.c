/* SPDX-License-Identifier: MIT */
/* Every schedule, through its plugin as built, against torch.optim.lr_scheduler. */
#include "support/fake_host.h"

#include "golden.h"

#include <lathe/schedule.h>

static const double tolerance = 1e-13; /* torch multiplies its way from step to step */

static void expect(double actual, double expected, const char *options, size_t step,
                   double *worst) {
    double error = fabs(actual - expected);
    if (!(error <= tolerance))
        fail_msg("%s: step %zu: %.17g, not %.17g", options, step, actual, expected);
    *worst = fmax(*worst, error);
}

static double check_case(const struct json *c) {
    const char *name = json_text(json_get(c, "schedule"));
    const struct json *factors = json_get(c, "factors");
    const struct json *observed = json_get(c, "observed");
    const lathe_schedule_ops *ops = golden_plugin("schedule", name);
    char *options = golden_text(json_get(c, "options")), manifest[64];
    struct fake_host host;
    double worst = 0;
    void *self = NULL;
    snprintf(manifest, sizeof manifest, "schedule/%s", name);
    fake_host_init(&host, options);
    fake_host_manifest(&host, manifest);
    assert_int_equal(ops->create(&host.table, &self), LATHE_OK);
    assert_int_equal(json_size(factors), golden_whole(c, "steps"));
    for (size_t step = 0; step < json_size(factors); step++) {
        lathe_progress progress = {.size = sizeof progress,
                                   .step = (int64_t)step,
                                   .steps = golden_whole(c, "steps"),
                                   .steps_per_epoch = 10};
        expect(ops->factor(self, &progress), json_number(json_at(factors, step)),
               options, step, &worst);
        progress.step++;
        if (observed)
            ops->observe(self, &progress, json_number(json_at(observed, step)));
    }
    ops->destroy(self);
    fake_host_finish(&host);
    free(options);
    return worst;
}

static void check(const char *name, int cases_wanted) {
    struct json *root = golden_open("schedules.json");
    const struct json *cases = json_get(root, "cases");
    double worst = 0;
    int count = 0;
    for (size_t i = 0; i < json_size(cases); i++) {
        const struct json *c = json_at(cases, i);
        if (strcmp(json_text(json_get(c, "schedule")), name) != 0) continue;
        worst = fmax(worst, check_case(c));
        count++;
    }
    assert_int_equal(count, cases_wanted);
    print_message("worst error: %.2g\n", worst);
    json_close(root);
}

static void cosine(void **state) {
    (void)state;
    check("cosine", 2);
}

static void linear(void **state) {
    (void)state;
    check("linear", 4);
}

static void step(void **state) {
    (void)state;
    check("step", 2);
}

static void polynomial(void **state) {
    (void)state;
    check("polynomial", 3);
}

static void onecycle(void **state) {
    (void)state;
    check("onecycle", 3);
}

static void plateau(void **state) {
    (void)state;
    check("plateau", 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cosine),   cmocka_unit_test(linear),
        cmocka_unit_test(step),     cmocka_unit_test(polynomial),
        cmocka_unit_test(onecycle), cmocka_unit_test(plateau),
    };
    return cmocka_run_group_tests_name("schedules against torch", tests, NULL, NULL);
}
