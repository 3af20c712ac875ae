/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include "base/half.h"

/* The value by the standard's own words: (-1)^sign 2^(exponent - bias) significand. */
static double expected(uint32_t sign, uint32_t exponent, uint32_t fraction,
                       int fraction_bits, int bias, uint32_t top) {
    const double one = ldexp(1, fraction_bits), hidden = exponent ? one : 0;
    double size = (hidden + fraction) / one;
    size = ldexp(size, (exponent ? (int)exponent : 1) - bias);
    if (exponent == top) size = fraction ? NAN : INFINITY;
    return sign ? -size : size;
}

static void check(uint32_t bits, float found, double wanted) {
    if (isnan(wanted) ? isnan(found)
                      : (double)found == wanted && !signbit(found) == !signbit(wanted))
        return;
    fail_msg("0x%04x is %a, not %a", (unsigned)bits, (double)found, wanted);
}

static void every_half_is_exact(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++)
        check(bits, half_widen((uint16_t)bits),
              expected(bits >> 15, bits >> 10 & 0x1f, bits & 0x3ff, 10, 15, 0x1f));
}

static void every_bfloat_is_exact(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++)
        check(bits, half_widen_bfloat((uint16_t)bits),
              expected(bits >> 15, bits >> 7 & 0xff, bits & 0x7f, 7, 127, 0xff));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_half_is_exact),
                                       cmocka_unit_test(every_bfloat_is_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
