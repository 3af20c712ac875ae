/* SPDX-License-Identifier: MIT */
/* exp, tanh and the normal distribution against libm in double, over their whole
 * range. */
#include "support/arrays.h"

#include "kernels/elementary.h"

/* How far off, in units of the last place of the right answer. */
static double ulps(float actual, double expected) {
    float nearest = fabsf((float)expected);
    return fabs((double)actual - expected) / (nextafterf(nearest, INFINITY) - nearest);
}

static void exp_is_within_2_ulp(void **state) {
    (void)state;
    double worst = 0;
    for (float x = -87.33f; x < 88.0f; x += 2e-5f + fabsf(x) * 1e-6f)
        worst = fmax(worst, ulps(elementary_exp(x), exp((double)x)));
    assert_true(worst <= 2);
    assert_true(elementary_exp(0.0f) == 1.0f);
}

static void exp_ends_in_0_and_keeps_nan(void **state) {
    (void)state;
    assert_true(elementary_exp(-87.34f) == 0.0f);
    assert_true(elementary_exp(-1e30f) == 0.0f);
    assert_true(elementary_exp(-INFINITY) == 0.0f);
    assert_true(isnan(elementary_exp(NAN)));
}

static void tanh_is_within_2_ulp(void **state) {
    (void)state;
    double worst = 0;
    for (float x = 1e-8f; x < 20.0f; x *= 1.00001f) {
        worst = fmax(worst, ulps(elementary_tanh(x), tanh((double)x)));
        assert_true(elementary_tanh(-x) == -elementary_tanh(x));
    }
    assert_true(worst <= 2);
    assert_true(elementary_tanh(0.0f) == 0.0f);
    assert_true(elementary_tanh(INFINITY) == 1.0f);
    assert_true(elementary_tanh(-INFINITY) == -1.0f);
    assert_true(isnan(elementary_tanh(NAN)));
}

static void normal_is_as_exact_as_it_says(void **state) {
    (void)state;
    double above = 0, below = 0, densities = 0;
    for (float x = 1e-8f; x < 12.8f; x *= 1.00001f) {
        double x2 = (double)x * (double)x, tail = 0.5 * erfc((double)x * sqrt(0.5));
        double slope = exp(-0.5 * x2) / sqrt(2 * acos(-1));
        float density;
        above = fmax(above, ulps(elementary_normal(x, &density),
                                 0.5 * erfc((double)-x * sqrt(0.5))));
        below = fmax(below, ulps(elementary_normal(-x, &density), tail) / (2 + x2));
        densities = fmax(densities, ulps(density, slope) / (2 + x2));
    }
    assert_true(above <= 2.1);
    assert_true(below <= 2);
    assert_true(densities <= 1);
}

static void normal_at_the_ends(void **state) {
    (void)state;
    float density;
    assert_true(elementary_normal(0.0f, &density) == 0.5f);
    assert_true(elementary_normal(INFINITY, &density) == 1.0f);
    assert_true(elementary_normal(-INFINITY, &density) == 0.0f);
    assert_true(elementary_normal(1e30f, &density) == 1.0f);
    assert_true(density == 0.0f);
    assert_true(isnan(elementary_normal(NAN, &density)));
    assert_true(isnan(density));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_within_2_ulp),
        cmocka_unit_test(exp_ends_in_0_and_keeps_nan),
        cmocka_unit_test(tanh_is_within_2_ulp),
        cmocka_unit_test(normal_is_as_exact_as_it_says),
        cmocka_unit_test(normal_at_the_ends),
    };
    return cmocka_run_group_tests_name("kernels: elementary functions", tests, NULL,
                                       NULL);
}
