/* SPDX-License-Identifier: MIT */
/* rmsprop by hand, centred where the variance vanishes, and its promise that the block
 * may be cut anywhere. 200 updates against torch.optim.RMSprop are in tests/golden. */
#include "support/fake_host.h"
#include "support/spans.h"

#include "optimizer/rmsprop/rmsprop.c"

#define CENTERED_WITH_MOMENTUM                                                         \
    "{\"lr\": 1, \"centered\": true, \"momentum\": 0.9, \"weight_decay\": 0.1}"

static void *make(struct fake_host *host, const char *options) {
    void *self = NULL;
    fake_host_init(host, options);
    fake_host_manifest(host, "optimizer/rmsprop");
    assert_int_equal(lathe_ops_.create(&host->table, &self), LATHE_OK);
    return self;
}

/* alpha 3/4, eps 1, gradient 4: v = 4, w = 1 - (1/2) 4 / (2 + 1) */
static void one_update_by_hand(void **state) {
    (void)state;
    struct fake_host host;
    void *self = make(&host, "{\"lr\": 1, \"alpha\": 0.75, \"eps\": 1}");
    float weight = 1, gradient = 16, v = 0;
    spans_update(&(struct spans){.ops = &lathe_ops_,
                                 .self = self,
                                 .count = 1,
                                 .weights = &weight,
                                 .slots = {&v},
                                 .gradients = &gradient,
                                 .scale = 0.25,
                                 .rate = 0.5},
                 1);
    assert_true(v == 4);
    assert_close(weight, 1 - 2.0 / 3, 1e-7);
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

/* A gradient that never changes has no variance. A mean square less the mean's square
 * is then what rounding left, as often below 0 as above. */
static void a_constant_gradient_centred_stays_finite(void **state) {
    (void)state;
    enum { COUNT = 64 };
    struct fake_host host;
    void *self = make(&host, "{\"lr\": 1, \"centered\": true}");
    float weights[COUNT] = {0}, gradients[COUNT], v[COUNT] = {0}, a[COUNT] = {0};
    struct spans spans = {.ops = &lathe_ops_,
                          .self = self,
                          .count = COUNT,
                          .weights = weights,
                          .slots = {v, a},
                          .gradients = gradients,
                          .scale = 1,
                          .rate = 0x1p-10};
    array_fill(gradients, COUNT, 1000, 3);
    for (int step = 1; step <= 3000; step++) spans_update(&spans, step);
    for (int i = 0; i < COUNT; i++) {
        assert_true(isfinite(weights[i]));
        assert_true(v[i] >= 0 && v[i] <= 1e-6f * gradients[i] * gradients[i]);
        assert_close(a[i], gradients[i], 1e-5);
    }
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

static void expect_slots(const char *options, int count, const char *const *expected) {
    struct fake_host host;
    const char *const *names = NULL;
    void *self = make(&host, options);
    assert_int_equal(lathe_ops_.slots(self, &names), count);
    for (int i = 0; i < count; i++) assert_string_equal(names[i], expected[i]);
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

static void slots_are_those_it_needs(void **state) {
    (void)state;
    const char *const plain[] = {"square_avg", "momentum"};
    const char *const centered[] = {"variance", "grad_avg", "momentum"};
    expect_slots("{\"lr\": 1}", 1, plain);
    expect_slots("{\"lr\": 1, \"momentum\": 0.9}", 2, plain);
    expect_slots("{\"lr\": 1, \"centered\": true}", 2, centered);
    expect_slots(CENTERED_WITH_MOMENTUM, 3, centered);
}

static void the_block_may_be_cut_anywhere(void **state) {
    (void)state;
    const char *const options[] = {
        "{\"lr\": 1, \"weight_decay\": 0.1}",
        "{\"lr\": 1, \"momentum\": 0.9}",
        "{\"lr\": 1, \"centered\": true}",
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

enum { LENGTH = 1003 };

/* blocks: weights, gradients, three slots */
static void update_part(void *self, float blocks[5][LENGTH], int64_t first,
                        int64_t count, int64_t step) {
    float *slots[3] = {blocks[2] + first, blocks[3] + first, blocks[4] + first};
    lathe_span span = {.size = sizeof span,
                       .flags = LATHE_DECAYS,
                       .first = first,
                       .count = count,
                       .weights = blocks[0] + first,
                       .gradients = blocks[1] + first,
                       .slots = slots,
                       .scale = 0.5,
                       .rate = 0.1,
                       .step = step};
    assert_int_equal(lathe_ops_.step(self, &span), LATHE_OK);
}

static void with_three_slots_too(void **state) {
    (void)state;
    static float whole[5][LENGTH], cut[5][LENGTH];
    struct fake_host host;
    void *self = make(&host, CENTERED_WITH_MOMENTUM);
    array_fill(whole[0], LENGTH, 1, 1);
    memcpy(cut, whole, sizeof cut);
    for (int64_t step = 1; step <= 4; step++) {
        array_fill(whole[1], LENGTH, 1, 100 + (uint32_t)step);
        array_fill(cut[1], LENGTH, 1, 100 + (uint32_t)step);
        update_part(self, whole, 0, LENGTH, step);
        for (int64_t first = 0, count; first < LENGTH; first += count) {
            count = 1 + (first * 7 + step) % 61;
            if (count > LENGTH - first) count = LENGTH - first;
            update_part(self, cut, first, count, step);
        }
    }
    assert_memory_equal(whole, cut, sizeof whole);
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_update_by_hand),
        cmocka_unit_test(a_constant_gradient_centred_stays_finite),
        cmocka_unit_test(slots_are_those_it_needs),
        cmocka_unit_test(the_block_may_be_cut_anywhere),
        cmocka_unit_test(with_three_slots_too),
    };
    return cmocka_run_group_tests_name("optimizer rmsprop", tests, NULL, NULL);
}
