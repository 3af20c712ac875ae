/* SPDX-License-Identifier: MIT */
/* Each loss against its definition in double, and its gradient against finite
 * differences of that. */
#include "support/arrays.h"

#include "kernels/loss.h"

enum { ROWS = 4, WIDTH_MAX = 37 };

struct reference {
    double y[ROWS * WIDTH_MAX], t[ROWS * WIDTH_MAX];
    int32_t labels[ROWS];
    int64_t rows, width;
};

/* log(sum e^z) - z[label], as the textbook has it */
static double cross_entropy(const void *context) {
    const struct reference *r = context;
    double loss = 0;
    for (int64_t row = 0; row < r->rows; row++) {
        const double *z = r->y + row * r->width;
        double sum = 0;
        for (int64_t j = 0; j < r->width; j++) sum += exp(z[j]);
        loss += log(sum) - z[r->labels[row]];
    }
    return loss;
}

static double squared_error(const void *context) {
    const struct reference *r = context;
    double loss = 0;
    for (int64_t i = 0; i < r->rows * r->width; i++)
        loss += (r->y[i] - r->t[i]) * (r->y[i] - r->t[i]) / (double)r->width;
    return loss;
}

static void check(int64_t rows, int64_t width, int classify) {
    struct reference r = {.rows = rows, .width = width};
    float y[ROWS * WIDTH_MAX], t[ROWS * WIDTH_MAX], d[ROWS * WIDTH_MAX];
    double (*f)(const void *) = classify ? cross_entropy : squared_error;
    array_fill(y, rows * width, 5, 1);
    array_fill(t, rows * width, 5, 2);
    for (int64_t i = 0; i < ROWS * WIDTH_MAX; i++) d[i] = NAN;
    for (int64_t i = 0; i < rows * width; i++) {
        r.y[i] = (double)y[i];
        r.t[i] = (double)t[i];
    }
    for (int64_t row = 0; row < ROWS; row++) r.labels[row] = (int32_t)(5 * row % width);
    double loss = classify ? loss_cross_entropy(rows, width, y, r.labels, d)
                           : loss_squared_error(rows, width, y, t, d);
    assert_close(loss, f(&r), 1e-6);
    for (int64_t i = 0; i < rows * width; i++)
        assert_close(d[i], array_slope(f, &r, &r.y[i]), 2e-6);
    for (int64_t i = rows * width; i < ROWS * WIDTH_MAX; i++) assert_true(isnan(d[i]));
}

static void cross_entropy_and_its_gradient(void **state) {
    (void)state;
    check(ROWS, 10, 1);
    check(ROWS, WIDTH_MAX, 1);
    check(ROWS, 1, 1);
    check(1, 10, 1);
    check(0, 10, 1);
}

static void squared_error_and_its_gradient(void **state) {
    (void)state;
    check(ROWS, 1, 0);
    check(ROWS, WIDTH_MAX, 0);
    check(1, 3, 0);
    check(0, 3, 0);
}

static void great_logits_do_not_overflow(void **state) {
    (void)state;
    float z[3] = {3e38f, -3e38f, 1e38f}, d[3];
    int32_t label = 0;
    assert_true(loss_cross_entropy(1, 3, z, &label, d) == 0);
    assert_true(d[0] == 0 && d[1] == 0 && d[2] == 0);
    label = 1;
    assert_close(loss_cross_entropy(1, 3, z, &label, d) / 6e38, 1, 1e-6);
    assert_true(d[0] == 1 && d[1] == -1);
}

static void nan_is_not_hidden(void **state) {
    (void)state;
    int32_t label = 1;
    for (int at = 0; at < 10; at++) {
        float z[10] = {0}, d[10];
        z[at] = NAN;
        assert_true(isnan(loss_cross_entropy(1, 10, z, &label, d)));
    }
    float y[2] = {1, NAN}, t[2] = {1, 1}, d[2];
    assert_true(isnan(loss_squared_error(1, 2, y, t, d)));
    float infinite[2] = {INFINITY, 0};
    assert_true(isnan(loss_cross_entropy(1, 2, infinite, &label, d)));
}

/* Every row comes out the same, whatever rows it is computed with. */
static void rows_do_not_touch_each_other(void **state) {
    (void)state;
    float z[ROWS * 10], together[ROWS * 10], alone[ROWS * 10];
    int32_t labels[ROWS] = {1, 9, 0, 3};
    array_fill(z, ROWS * 10, 3, 4);
    double loss = 0, whole = loss_cross_entropy(ROWS, 10, z, labels, together);
    for (int row = 0; row < ROWS; row++)
        loss += loss_cross_entropy(1, 10, z + 10 * row, labels + row, alone + 10 * row);
    assert_memory_equal(together, alone, sizeof alone);
    assert_true(loss == whole);
}

static void the_first_maximum_counts(void **state) {
    (void)state;
    float z[9] = {1, 3, 3, 2, 2, 2, -1, -2, -0.5f};
    int32_t first[3] = {1, 0, 2}, second[3] = {2, 1, 0};
    assert_int_equal(loss_rows_correct(3, 3, z, first), 3);
    assert_int_equal(loss_rows_correct(3, 3, z, second), 0);
    assert_int_equal(loss_rows_correct(0, 3, z, first), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cross_entropy_and_its_gradient),
        cmocka_unit_test(squared_error_and_its_gradient),
        cmocka_unit_test(great_logits_do_not_overflow),
        cmocka_unit_test(nan_is_not_hidden),
        cmocka_unit_test(rows_do_not_touch_each_other),
        cmocka_unit_test(the_first_maximum_counts),
    };
    return cmocka_run_group_tests_name("kernels: losses", tests, NULL, NULL);
}
