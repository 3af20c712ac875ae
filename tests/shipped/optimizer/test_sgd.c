/* SPDX-License-Identifier: MIT */
/* sgd against torch.optim.SGD's algorithm written out in double, and its promise that
 * the block may be cut anywhere. */
#include "support/fake_host.h"
#include "support/spans.h"

#include "optimizer/sgd/sgd.c"

enum { COUNT = 37, STEPS = 5 };

struct settings {
    const char *options;
    double momentum, dampening, weight_decay;
    int nesterov;
    uint32_t flags;
};

static void *make(struct fake_host *host, const char *options) {
    void *self = NULL;
    fake_host_init(host, options);
    fake_host_manifest(host, "optimizer/sgd");
    assert_int_equal(lathe_ops_.create(&host->table, &self), LATHE_OK);
    return self;
}

static void update_in_double(const struct settings *s, int step, double rate, double g,
                             double *w, double *b) {
    if (s->flags & LATHE_DECAYS) g += s->weight_decay * *w;
    if (s->momentum != 0) {
        *b = step == 1 ? g : s->momentum * *b + (1 - s->dampening) * g;
        g = s->nesterov ? g + s->momentum * *b : *b;
    }
    *w -= rate * g;
}

static void check(const struct settings *settings) {
    struct fake_host host;
    void *self = make(&host, settings->options);
    float weights[COUNT], buffer[COUNT] = {0}, gradients[COUNT];
    double w[COUNT], b[COUNT] = {0};
    const double rates[STEPS] = {0.1, 0.2, 0, 0.05, 0.3};
    struct spans spans = {.ops = &lathe_ops_,
                          .self = self,
                          .count = COUNT,
                          .weights = weights,
                          .gradients = gradients,
                          .scale = 1.0 / 32,
                          .flags = settings->flags};
    if (settings->momentum > 0) spans.slots[0] = buffer;
    array_fill(weights, COUNT, 1, 1);
    for (int i = 0; i < COUNT; i++) w[i] = (double)weights[i];
    for (int step = 1; step <= STEPS; step++) {
        array_fill(gradients, COUNT, 32, 10 + (uint32_t)step);
        spans.rate = rates[step - 1];
        spans_update(&spans, step);
        for (int i = 0; i < COUNT; i++) {
            update_in_double(settings, step, spans.rate, (double)gradients[i] / 32,
                             &w[i], &b[i]);
            assert_close(weights[i], w[i], 1e-6);
            assert_close(buffer[i], b[i], 1e-6);
        }
    }
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

static void matches_torch_plain(void **state) {
    (void)state;
    check(&(struct settings){"{\"lr\": 1}", 0, 0, 0, 0, LATHE_DECAYS});
}

static void matches_torch_weight_decay(void **state) {
    (void)state;
    const char *options = "{\"lr\": 1, \"weight_decay\": 0.5}";
    check(&(struct settings){options, 0, 0, 0.5, 0, LATHE_DECAYS});
    check(&(struct settings){options, 0, 0, 0.5, 0, 0});
}

static void matches_torch_momentum(void **state) {
    (void)state;
    const char *options = "{\"lr\": 1, \"momentum\": 0.9, \"weight_decay\": 0.1}";
    check(&(struct settings){options, 0.9, 0, 0.1, 0, LATHE_DECAYS});
}

static void matches_torch_dampening(void **state) {
    (void)state;
    const char *options = "{\"lr\": 1, \"momentum\": 0.9, \"dampening\": 0.4}";
    check(&(struct settings){options, 0.9, 0.4, 0, 0, LATHE_DECAYS});
}

static void matches_torch_nesterov(void **state) {
    (void)state;
    const char *options = "{\"lr\": 1, \"momentum\": 0.9, \"nesterov\": true,"
                          " \"weight_decay\": 0.1}";
    check(&(struct settings){options, 0.9, 0, 0.1, 1, LATHE_DECAYS});
}

/* w = 1, gradient 2, rate 1, by hand */
static void one_update_by_hand(void **state) {
    (void)state;
    struct fake_host host;
    void *self = make(&host, "{\"lr\": 1}");
    float weight = 1, gradient = 8;
    spans_update(&(struct spans){.ops = &lathe_ops_,
                                 .self = self,
                                 .count = 1,
                                 .weights = &weight,
                                 .gradients = &gradient,
                                 .scale = 0.25,
                                 .rate = 1},
                 1);
    assert_true(weight == -1);
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

static void a_slot_only_with_momentum(void **state) {
    (void)state;
    struct fake_host host;
    const char *const *names = NULL;
    void *self = make(&host, "{\"lr\": 1}");
    assert_int_equal(lathe_ops_.slots(self, &names), 0);
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
    self = make(&host, "{\"lr\": 1, \"momentum\": 0.5}");
    assert_int_equal(lathe_ops_.slots(self, &names), 1);
    assert_string_equal(names[0], "momentum");
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

static void refuse(const char *options, const char *text) {
    struct fake_host host;
    void *self = NULL;
    fake_host_init(&host, options);
    fake_host_manifest(&host, "optimizer/sgd");
    assert_int_equal(lathe_ops_.create(&host.table, &self), LATHE_EINVAL);
    assert_string_equal(host.failure, text);
    assert_null(self);
    fake_host_finish(&host);
}

static void nesterov_needs_plain_momentum(void **state) {
    (void)state;
    refuse("{\"lr\": 1, \"nesterov\": true}",
           "\"nesterov\" needs a \"momentum\" greater than 0");
    refuse("{\"lr\": 1, \"nesterov\": true, \"momentum\": 0.9, \"dampening\": 0.5}",
           "\"nesterov\" needs \"dampening\" to be 0; it is 0.5");
}

static void the_block_may_be_cut_anywhere(void **state) {
    (void)state;
    const char *const options[] = {
        "{\"lr\": 1, \"weight_decay\": 0.1}",
        "{\"lr\": 1, \"momentum\": 0.9, \"dampening\": 0.1, \"weight_decay\": 0.1}",
        "{\"lr\": 1, \"momentum\": 0.9, \"nesterov\": true, \"weight_decay\": 0.1}",
    };
    assert_int_equal(lathe_ops_.flags, LATHE_ELEMENTWISE);
    for (int i = 0; i < 3; i++) {
        struct fake_host host;
        void *self = make(&host, options[i]);
        spans_expect_same_bits((struct spans){.ops = &lathe_ops_,
                                              .self = self,
                                              .scale = 1.0 / 3,
                                              .rate = 0.1,
                                              .flags = LATHE_DECAYS},
                               4);
        lathe_ops_.destroy(self);
        fake_host_finish(&host);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_torch_plain),
        cmocka_unit_test(matches_torch_weight_decay),
        cmocka_unit_test(matches_torch_momentum),
        cmocka_unit_test(matches_torch_dampening),
        cmocka_unit_test(matches_torch_nesterov),
        cmocka_unit_test(one_update_by_hand),
        cmocka_unit_test(a_slot_only_with_momentum),
        cmocka_unit_test(nesterov_needs_plain_momentum),
        cmocka_unit_test(the_block_may_be_cut_anywhere),
    };
    return cmocka_run_group_tests_name("optimizer sgd", tests, NULL, NULL);
}
