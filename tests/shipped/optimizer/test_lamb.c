/* SPDX-License-Identifier: MIT */
/* lamb's trust ratio by hand. 200 updates against the paper's formula are in
 * tests/golden. */
#include "support/fake_host.h"
#include "support/spans.h"

#include "optimizer/lamb/lamb.c"

static void *make(struct fake_host *host, const char *options) {
    void *self = NULL;
    fake_host_init(host, options);
    fake_host_manifest(host, "optimizer/lamb");
    assert_int_equal(lathe_ops_.create(&host->table, &self), LATHE_OK);
    return self;
}

/* One update at rate 1/8 of weights[count]; without decay the first direction is the
 * gradient's sign. */
static void update_once(const char *options, uint32_t flags, int64_t count,
                        float *weights, const float *gradients) {
    struct fake_host host;
    void *self = make(&host, options);
    float *m = array_make(count, 0, 0), *v = array_make(count, 0, 0);
    spans_update(&(struct spans){.ops = &lathe_ops_,
                                 .self = self,
                                 .count = count,
                                 .weights = weights,
                                 .slots = {m, v},
                                 .gradients = gradients,
                                 .scale = 1,
                                 .rate = 0.125,
                                 .flags = flags},
                 1);
    free(m);
    free(v);
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

#define NO_DECAY "{\"lr\": 1, \"weight_decay\": 0}"

/* |w| = 10, |u| = 2: every weight moves by 5/8 */
static void the_step_has_the_size_of_the_weights(void **state) {
    (void)state;
    float weights[4] = {5, 5, -5, 5};
    const float gradients[4] = {1000, -1000, 2000, 3000};
    const double expected[4] = {4.375, 5.625, -5.625, 4.375};
    update_once(NO_DECAY, LATHE_DECAYS, 4, weights, gradients);
    for (int i = 0; i < 4; i++) assert_close(weights[i], expected[i], 1e-6);
}

/* w = 4, u = 1 + 4/2 = 3, |w| / |u| = 4/3: w - (1/8) (4/3) 3 */
static void decay_is_in_the_direction(void **state) {
    (void)state;
    float weight = 4;
    const float gradient = 1000;
    update_once("{\"lr\": 1, \"weight_decay\": 0.5}", LATHE_DECAYS, 1, &weight,
                &gradient);
    assert_close(weight, 3.5, 1e-6);
}

static void without_weights_or_direction_the_ratio_is_1(void **state) {
    (void)state;
    float weights[2] = {0, 0};
    float gradients[2] = {1000, -1000};
    update_once(NO_DECAY, LATHE_DECAYS, 2, weights, gradients);
    assert_close(weights[0], -0.125, 1e-6);
    assert_close(weights[1], 0.125, 1e-6);
    weights[0] = 3;
    gradients[0] = gradients[1] = 0;
    update_once(NO_DECAY, LATHE_DECAYS, 2, weights, gradients);
    assert_true(weights[0] == 3);
}

static void biases_have_a_ratio_only_if_told(void **state) {
    (void)state;
    const float gradient = 1000;
    float weight = 4;
    update_once("{\"lr\": 1, \"weight_decay\": 0.5}", 0, 1, &weight, &gradient);
    assert_close(weight, 4 - 0.125, 1e-6);
    weight = 4;
    update_once("{\"lr\": 1, \"weight_decay\": 0.5, \"adapt\": \"all\"}", 0, 1, &weight,
                &gradient);
    assert_close(weight, 3.5, 1e-6);
}

/* The norms are of the whole, however long: 10,000 weights of 3, moved by 3/8 each. */
static void long_parameters_are_summed_whole(void **state) {
    (void)state;
    enum { COUNT = 10007 };
    float *weights = array_make(COUNT, 0, 0), *gradients = array_make(COUNT, 0, 0);
    for (int i = 0; i < COUNT; i++) {
        weights[i] = 3;
        gradients[i] = i % 2 ? 1000 : -1000;
    }
    update_once(NO_DECAY, LATHE_DECAYS, COUNT, weights, gradients);
    for (int i = 0; i < COUNT; i++)
        assert_close(weights[i], i % 2 ? 2.625 : 3.375, 1e-6);
    free(weights);
    free(gradients);
}

static void takes_whole_parameters_and_two_slots(void **state) {
    (void)state;
    struct fake_host host;
    const char *const *names = NULL;
    void *self = make(&host, "{\"lr\": 1}");
    assert_int_equal(lathe_ops_.flags & LATHE_ELEMENTWISE, 0);
    assert_int_equal(lathe_ops_.slots(self, &names), 2);
    assert_string_equal(names[0], "exp_avg");
    assert_string_equal(names[1], "exp_avg_sq");
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_step_has_the_size_of_the_weights),
        cmocka_unit_test(decay_is_in_the_direction),
        cmocka_unit_test(without_weights_or_direction_the_ratio_is_1),
        cmocka_unit_test(biases_have_a_ratio_only_if_told),
        cmocka_unit_test(long_parameters_are_summed_whole),
        cmocka_unit_test(takes_whole_parameters_and_two_slots),
    };
    return cmocka_run_group_tests_name("optimizer lamb", tests, NULL, NULL);
}
