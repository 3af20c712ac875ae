/* SPDX-License-Identifier: MIT */
/* Every variant of the loops over blocks gives the bits of the base variant. */
#include "support/variants.h"

#include "passes_loops.h"

VARIANTS(passes_add)
VARIANTS(passes_sum_squares)
VARIANTS(passes_multiply)
VARIANTS(passes_clamp)

static double add(int v, int64_t count, float *const *x) {
    VARIANT(passes_add, v)(x[0], x[1], count);
    return 0;
}

static double sum_squares(int v, int64_t count, float *const *x) {
    return VARIANT(passes_sum_squares, v)(x[0], count);
}

static double multiply(int v, int64_t count, float *const *x) {
    VARIANT(passes_multiply, v)(x[0], count, 0.3f);
    return 0;
}

static double clamp(int v, int64_t count, float *const *x) {
    VARIANT(passes_clamp, v)(x[0], count, 0.3f, 0.5f);
    return 0;
}

static void same_bits(void **state) {
    static const struct variant_case cases[] = {
        {"add", add},
        {"sum of squares", sum_squares},
        {"multiply", multiply},
        {"clamp", clamp},
    };
    (void)state;
    variants_check(cases, sizeof cases / sizeof *cases);
}

static void clamp_keeps_nan_and_bounds(void **state) {
    (void)state;
    float x[5] = {NAN, INFINITY, -INFINITY, 3, -1};
    passes_clamp(x, 5, 0.5f, 1);
    assert_true(isnan(x[0]));
    assert_true(x[1] == 1 && x[2] == -1 && x[3] == 1 && x[4] == -0.5f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits),
        cmocka_unit_test(clamp_keeps_nan_and_bounds),
    };
    return cmocka_run_group_tests_name("host: loops over blocks", tests, NULL, NULL);
}
