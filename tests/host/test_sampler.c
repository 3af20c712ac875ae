/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "sampler.h"

static const lathe_key key = {0x12345678u, 0x9ABCDEF0u};

static void every_index_comes_once(void **state) {
    (void)state;
    unsigned char *seen = malloc(10000);
    for (int64_t length = 1; length <= 10000; length++) {
        struct order order;
        order_init(&order, lathe_derive(key, 0, (uint64_t)length), length);
        memset(seen, 0, (size_t)length);
        for (int64_t i = 0; i < length; i++) {
            int64_t at = order_at(&order, i);
            if (at < 0 || at >= length || seen[at])
                fail_msg("length %lld: position %lld gives %lld", (long long)length,
                         (long long)i, (long long)at);
            seen[at] = 1;
        }
    }
    free(seen);
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void huge_orders_need_no_memory(void **state) {
    (void)state;
    enum { DRAWS = 200000 };
    const int64_t length = (int64_t)1 << 40;
    struct order order;
    order_init(&order, key, length);
    int64_t *at = malloc(DRAWS * sizeof *at);
    for (int64_t i = 0; i < DRAWS; i++) {
        at[i] = order_at(&order, i * (length / DRAWS));
        assert_true(at[i] >= 0 && at[i] < length);
    }
    qsort(at, DRAWS, sizeof *at, compare);
    for (int i = 1; i < DRAWS; i++) assert_true(at[i] != at[i - 1]);
    free(at);
}

static void orders_differ_by_key_and_repeat(void **state) {
    (void)state;
    for (int64_t length = 5; length < 300; length += 59) {
        struct order a, b, again;
        order_init(&a, lathe_derive(key, 1, 1), length);
        order_init(&b, lathe_derive(key, 1, 2), length);
        order_init(&again, lathe_derive(key, 1, 1), length);
        int differ = 0;
        for (int64_t i = 0; i < length; i++) {
            differ += order_at(&a, i) != order_at(&b, i);
            assert_int_equal(order_at(&a, i), order_at(&again, i));
        }
        assert_true(differ > 0);
    }
}

/* Chi-squared over where position 0 goes: 63 degrees of freedom, mean 63, deviation
 * 11. */
static void places_are_even(void **state) {
    (void)state;
    enum { LENGTH = 64, KEYS = 64000 };
    int counts[LENGTH] = {0};
    for (uint64_t i = 0; i < KEYS; i++) {
        struct order order;
        order_init(&order, lathe_derive(key, 2, i), LENGTH);
        counts[order_at(&order, 0)]++;
    }
    double chi = 0, expected = (double)KEYS / LENGTH;
    for (int i = 0; i < LENGTH; i++)
        chi += (counts[i] - expected) * (counts[i] - expected);
    chi /= expected;
    assert_true(chi > 63 - 4 * 11 && chi < 63 + 5 * 11);
}

static void windows_add_up(void **state) {
    (void)state;
    for (int64_t samples = 1; samples < 60; samples++)
        for (int64_t batch = 1; batch < 9; batch++)
            for (int64_t accumulate = 1; accumulate < 6; accumulate++) {
                struct sampler s;
                sampler_init(&s, samples, batch, accumulate);
                int64_t micro = 0, rows = 0;
                for (int64_t step = 0; step < s.steps_per_epoch; step++) {
                    int64_t window = sampler_window(&s, step);
                    assert_true(window >= 1 && window <= accumulate);
                    while (window--) rows += sampler_rows(&s, micro++);
                }
                assert_int_equal(micro, s.micros_per_epoch);
                assert_int_equal(rows, samples);
            }
}

static void slices_cover_all_rows(void **state) {
    (void)state;
    for (int64_t slices = 1; slices < 40; slices++)
        for (int64_t rows = 1; rows < 100; rows++) {
            assert_int_equal(sampler_slice(rows, 0, slices), 0);
            assert_int_equal(sampler_slice(rows, slices, slices), rows);
            for (int64_t i = 0; i < slices; i++)
                assert_int_equal(sampler_slice(rows, i, slices), rows * i / slices);
        }
    assert_int_equal(sampler_slice(INT64_MAX - 1, 1, 2), (INT64_MAX - 1) / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_comes_once),
        cmocka_unit_test(huge_orders_need_no_memory),
        cmocka_unit_test(orders_differ_by_key_and_repeat),
        cmocka_unit_test(places_are_even),
        cmocka_unit_test(windows_add_up),
        cmocka_unit_test(slices_cover_all_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
