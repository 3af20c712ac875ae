/* SPDX-License-Identifier: MIT */
/* adamw against torch.optim.AdamW's algorithm written out in double, and its promise
 * that the block may be cut anywhere. */
#include "support/fake_host.h"
#include "support/spans.h"

#include "optimizer/adamw/adamw.c"

enum { COUNT = 37, STEPS = 50 };

static void *make(struct fake_host *host, const char *options) {
    void *self = NULL;
    fake_host_init(host, options);
    fake_host_manifest(host, "optimizer/adamw");
    assert_int_equal(lathe_ops_.create(&host->table, &self), LATHE_OK);
    return self;
}

struct settings {
    double beta1, beta2, eps, weight_decay;
};

static void update_in_double(const struct settings *s, int step, double rate, double g,
                             double w_m_v[3]) {
    double *w = &w_m_v[0], *m = &w_m_v[1], *v = &w_m_v[2];
    *w *= 1 - rate * s->weight_decay;
    *m = s->beta1 * *m + (1 - s->beta1) * g;
    *v = s->beta2 * *v + (1 - s->beta2) * g * g;
    double mean = *m / (1 - pow(s->beta1, step));
    double square = *v / (1 - pow(s->beta2, step));
    *w -= rate * mean / (sqrt(square) + s->eps);
}

static void check(const char *options, const struct settings *settings,
                  uint32_t flags) {
    struct fake_host host;
    void *self = make(&host, options);
    float weights[COUNT], m[COUNT] = {0}, v[COUNT] = {0}, gradients[COUNT];
    double expected[COUNT][3] = {{0}};
    struct spans spans = {.ops = &lathe_ops_,
                          .self = self,
                          .count = COUNT,
                          .weights = weights,
                          .slots = {m, v},
                          .gradients = gradients,
                          .scale = 1.0 / 64,
                          .flags = flags};
    array_fill(weights, COUNT, 1, 1);
    for (int i = 0; i < COUNT; i++) expected[i][0] = (double)weights[i];
    for (int step = 1; step <= STEPS; step++) {
        array_fill(gradients, COUNT, 64, 10 + (uint32_t)step);
        spans.rate = 0.01 * (step % 3);
        spans_update(&spans, step);
        for (int i = 0; i < COUNT; i++) {
            update_in_double(settings, step, spans.rate, (double)gradients[i] / 64,
                             expected[i]);
            assert_close(weights[i], expected[i][0], 5e-6);
            assert_close(m[i], expected[i][1], 1e-6);
            assert_close(v[i], expected[i][2], 1e-6);
        }
    }
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

static void defaults(void **state) {
    (void)state;
    check("{\"lr\": 1}", &(struct settings){0.9, 0.999, 1e-8, 0.01}, LATHE_DECAYS);
}

static void other_constants(void **state) {
    (void)state;
    check("{\"lr\": 1, \"betas\": [0.5, 0.9], \"eps\": 0.1, \"weight_decay\": 0.3}",
          &(struct settings){0.5, 0.9, 0.1, 0.3}, LATHE_DECAYS);
    check("{\"lr\": 1, \"betas\": [0, 0], \"eps\": 0.1, \"weight_decay\": 0}",
          &(struct settings){0, 0, 0.1, 0}, LATHE_DECAYS);
}

static void biases_do_not_decay(void **state) {
    (void)state;
    check("{\"lr\": 1, \"weight_decay\": 0.3}", &(struct settings){0.9, 0.999, 1e-8, 0},
          0);
}

/* The first update moves every weight by the rate, whatever the gradient's size. */
static void the_first_update_is_the_rate(void **state) {
    (void)state;
    struct fake_host host;
    void *self = make(&host, "{\"lr\": 1}");
    float weights[3] = {0}, gradients[3] = {1e-3f, -5, 1e6f}, m[3] = {0}, v[3] = {0};
    spans_update(&(struct spans){.ops = &lathe_ops_,
                                 .self = self,
                                 .count = 3,
                                 .weights = weights,
                                 .slots = {m, v},
                                 .gradients = gradients,
                                 .scale = 1,
                                 .rate = 0.5},
                 1);
    assert_close(weights[0], -0.5, 1e-5);
    assert_close(weights[1], 0.5, 1e-6);
    assert_close(weights[2], -0.5, 1e-6);
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

static void a_gradient_of_0_moves_nothing(void **state) {
    (void)state;
    struct fake_host host;
    void *self = make(&host, "{\"lr\": 1}");
    float weight = 0.75f, gradient = 0, m = 0, v = 0;
    struct spans spans = {.ops = &lathe_ops_,
                          .self = self,
                          .count = 1,
                          .weights = &weight,
                          .slots = {&m, &v},
                          .gradients = &gradient,
                          .scale = 1,
                          .rate = 0.5};
    for (int step = 1; step < 5; step++) spans_update(&spans, step);
    assert_true(weight == 0.75f);
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

static void two_slots(void **state) {
    (void)state;
    struct fake_host host;
    const char *const *names = NULL;
    void *self = make(&host, "{\"lr\": 1}");
    assert_int_equal(lathe_ops_.slots(self, &names), 2);
    assert_string_equal(names[0], "exp_avg");
    assert_string_equal(names[1], "exp_avg_sq");
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

static void the_block_may_be_cut_anywhere(void **state) {
    (void)state;
    struct fake_host host;
    void *self = make(&host, "{\"lr\": 1}");
    assert_int_equal(lathe_ops_.flags, LATHE_ELEMENTWISE);
    spans_expect_same_bits((struct spans){.ops = &lathe_ops_,
                                          .self = self,
                                          .scale = 1.0 / 3,
                                          .rate = 0.1,
                                          .flags = LATHE_DECAYS},
                           4);
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(other_constants),
        cmocka_unit_test(biases_do_not_decay),
        cmocka_unit_test(the_first_update_is_the_rate),
        cmocka_unit_test(a_gradient_of_0_moves_nothing),
        cmocka_unit_test(two_slots),
        cmocka_unit_test(the_block_may_be_cut_anywhere),
    };
    return cmocka_run_group_tests_name("optimizer adamw", tests, NULL, NULL);
}
