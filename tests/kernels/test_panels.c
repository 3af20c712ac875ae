/* SPDX-License-Identifier: MIT */
/* Packing into panels and back, and sums over their samples: all variants, which here
 * have the same bits. The products are in test_dense.c. */
#include "support/variants.h"

#include "kernels/panels.h"

VARIANTS(panels_pack)
VARIANTS(panels_unpack)
VARIANTS(panels_backward_bias)

static void check_packing(int v, int64_t rows, int64_t width, int64_t wide) {
    const int64_t padded = (rows + wide - 1) / wide * wide;
    float *x = array_make(rows * width, 1, 1), *back = array_make(rows * width, 1, 2);
    float *panels = array_make(padded * width, 1, 3);
    VARIANT(panels_pack, v)(rows, width, wide, x, panels);
    for (int64_t row = 0; row < padded; row++)
        for (int64_t j = 0; j < width; j++) {
            float found = panels[row / wide * width * wide + j * wide + row % wide];
            assert_true(found == (row < rows ? x[row * width + j] : 0));
        }
    VARIANT(panels_unpack, v)(rows, width, wide, panels, back);
    assert_memory_equal(back, x, (size_t)(rows * width) * sizeof *x);
    free(x);
    free(back);
    free(panels);
}

static void there_and_back(void **state) {
    static const int64_t rows[] = {1, 2, 8, 15, 31, 33, 64, 100};
    static const int64_t widths[] = {1, 7, 8, 10, 16, 33, 50};
    (void)state;
    for (int v = 0; v <= variant_widest(); v++)
        for (int i = 0; i < 8 * 7; i++)
            for (int64_t wide = 16; wide <= 112; wide += 48)
                check_packing(v, rows[i / 7], widths[i % 7], wide);
}

static void bias_sums_true_rows(void **state) {
    enum { ROWS = 75, OUT = 3, WIDE = 64 };
    float *dy = array_make(2 * WIDE * OUT, 1, 1), base[OUT] = {0};
    double exact[OUT] = {0};
    (void)state;
    for (int o = 0; o < OUT; o++)
        for (int row = 0; row < 2 * WIDE; row++) {
            float *d = &dy[row / WIDE * OUT * WIDE + o * WIDE + row % WIDE];
            if (row >= ROWS) *d = NAN; /* padding */
            if (row < ROWS) exact[o] += (double)*d;
        }
    for (int v = 0; v <= variant_widest(); v++) {
        float db[OUT] = {NAN, NAN, NAN};
        VARIANT(panels_backward_bias, v)(ROWS, OUT, WIDE, dy, 0, db);
        if (v == VARIANT_BASE) memcpy(base, db, sizeof db);
        assert_memory_equal(db, base, sizeof db);
        for (int o = 0; o < OUT; o++) assert_close(db[o], exact[o], 2e-6);
        VARIANT(panels_backward_bias, v)(ROWS, OUT, WIDE, dy, 1, db);
        for (int o = 0; o < OUT; o++) assert_close(db[o], 2 * exact[o], 4e-6);
        VARIANT(panels_backward_bias, v)(0, OUT, WIDE, dy, 0, db);
        assert_true(db[0] == 0 && db[OUT - 1] == 0);
    }
    free(dy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(bias_sums_true_rows),
    };
    return cmocka_run_group_tests_name("kernels: panels", tests, NULL, NULL);
}
