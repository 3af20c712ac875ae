/* SPDX-License-Identifier: MIT */
/* lion by hand, and its promise that the block may be cut anywhere. 200 updates against
 * the paper's formula are in tests/golden. */
#include "support/fake_host.h"
#include "support/spans.h"

#include "optimizer/lion/lion.c"

static void *make(struct fake_host *host, const char *options) {
    void *self = NULL;
    fake_host_init(host, options);
    fake_host_manifest(host, "optimizer/lion");
    assert_int_equal(lathe_ops_.create(&host->table, &self), LATHE_OK);
    return self;
}

/* Two updates with exact numbers: betas 1/2 and 3/4, weights 1, gradients 4 then -2. */
static void two_updates_by_hand(void **state) {
    (void)state;
    struct fake_host host;
    void *self =
        make(&host, "{\"lr\": 1, \"betas\": [0.5, 0.75], \"weight_decay\": 0.5}");
    float weights[2] = {1, 1}, gradients[2] = {16, 16}, m[2] = {0, 0};
    struct spans spans = {.ops = &lathe_ops_,
                          .self = self,
                          .count = 2,
                          .weights = weights,
                          .slots = {m},
                          .gradients = gradients,
                          .scale = 0.25,
                          .rate = 0.25,
                          .flags = LATHE_DECAYS};
    spans_update(&spans, 1); /* c = 2, w = 1 - 1/8 - 1/4, m = 1 */
    assert_true(weights[0] == 0.625f && m[0] == 1);
    gradients[0] = gradients[1] = -8;
    spans_update(&spans, 2); /* c = -1/2, w = 5/8 * 7/8 + 1/4, m = 1/4 */
    assert_true(weights[0] == 0.796875f && m[0] == 0.25f);
    assert_true(weights[1] == weights[0] && m[1] == m[0]);
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

static void moves_by_the_rate_whatever_the_gradient(void **state) {
    (void)state;
    struct fake_host host;
    void *self = make(&host, "{\"lr\": 1, \"weight_decay\": 0.5}");
    float weights[4] = {0, 0, 1, 1}, gradients[4] = {1e-20f, -1e20f, 0, -0.0f};
    float m[4] = {0};
    spans_update(&(struct spans){.ops = &lathe_ops_,
                                 .self = self,
                                 .count = 4,
                                 .weights = weights,
                                 .slots = {m},
                                 .gradients = gradients,
                                 .scale = 1,
                                 .rate = 0.5},
                 1);
    assert_true(weights[0] == -0.5f && weights[1] == 0.5f);
    assert_true(weights[2] == 1 && weights[3] == 1); /* sign 0, and a bias */
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

static void one_slot(void **state) {
    (void)state;
    struct fake_host host;
    const char *const *names = NULL;
    void *self = make(&host, "{\"lr\": 1}");
    assert_int_equal(lathe_ops_.slots(self, &names), 1);
    assert_string_equal(names[0], "exp_avg");
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

static void the_block_may_be_cut_anywhere(void **state) {
    (void)state;
    struct fake_host host;
    void *self = make(&host, "{\"lr\": 1, \"weight_decay\": 0.1}");
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
        cmocka_unit_test(two_updates_by_hand),
        cmocka_unit_test(moves_by_the_rate_whatever_the_gradient),
        cmocka_unit_test(one_slot),
        cmocka_unit_test(the_block_may_be_cut_anywhere),
    };
    return cmocka_run_group_tests_name("optimizer lion", tests, NULL, NULL);
}
