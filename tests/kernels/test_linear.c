/* SPDX-License-Identifier: MIT */
/* The products of a linear layer against triple loops in double, and its gradients
 * against finite differences of those. */
#include "support/arrays.h"

#include "kernels/linear.h"

enum { ROWS = 5, IN = 7, OUT = 3 };

/* f = sum(c * (x . w^T)), in double: its gradients are what backward computes of dy =
 * c. */
struct reference {
    double x[ROWS * IN], w[OUT * IN], c[ROWS * OUT];
    int64_t rows;
};

static double product(const struct reference *r, int64_t row, int64_t out) {
    double sum = 0;
    for (int64_t i = 0; i < IN; i++) sum += r->x[row * IN + i] * r->w[out * IN + i];
    return sum;
}

static double weighted_sum(const void *context) {
    const struct reference *r = context;
    double sum = 0;
    for (int64_t row = 0; row < r->rows; row++)
        for (int64_t o = 0; o < OUT; o++)
            sum += r->c[row * OUT + o] * product(r, row, o);
    return sum;
}

struct fixture {
    float x[ROWS * IN], w[OUT * IN], dy[ROWS * OUT];
    struct reference r;
};

static void widen(const float *from, double *to, int count) {
    for (int i = 0; i < count; i++) to[i] = (double)from[i];
}

static void prepare(struct fixture *f, int64_t rows) {
    array_fill(f->x, ROWS * IN, 1, 1);
    array_fill(f->w, OUT * IN, 1, 2);
    array_fill(f->dy, ROWS * OUT, 1, 3);
    widen(f->x, f->r.x, ROWS * IN);
    widen(f->w, f->r.w, OUT * IN);
    widen(f->dy, f->r.c, ROWS * OUT);
    f->r.rows = rows;
}

static void check(int64_t rows) {
    struct fixture f;
    float y[ROWS * OUT], dx[ROWS * IN], dw[OUT * IN];
    prepare(&f, rows);
    /* what is overwritten may hold anything before */
    for (int i = 0; i < ROWS * OUT; i++) y[i] = NAN;
    for (int i = 0; i < ROWS * IN; i++) dx[i] = NAN;
    for (int i = 0; i < OUT * IN; i++) dw[i] = NAN;
    linear_forward(rows, IN, OUT, f.x, f.w, y);
    linear_backward_input(rows, IN, OUT, f.dy, f.w, dx);
    linear_backward_weight(rows, IN, OUT, f.dy, f.x, 0, dw);
    for (int64_t i = 0; i < rows * OUT; i++)
        assert_close(y[i], product(&f.r, i / OUT, i % OUT), 1e-6);
    for (int64_t i = 0; i < rows * IN; i++)
        assert_close(dx[i], array_slope(weighted_sum, &f.r, &f.r.x[i]), 1e-6);
    for (int64_t i = 0; i < OUT * IN; i++)
        assert_close(dw[i], array_slope(weighted_sum, &f.r, &f.r.w[i]), 1e-6);
    /* rows past the last are not touched */
    for (int64_t i = rows * OUT; i < ROWS * OUT; i++) assert_true(isnan(y[i]));
    for (int64_t i = rows * IN; i < ROWS * IN; i++) assert_true(isnan(dx[i]));
}

static void many_rows(void **state) {
    (void)state;
    check(ROWS);
}

static void one_row(void **state) {
    (void)state;
    check(1);
}

static void no_rows_make_a_zero_gradient(void **state) {
    (void)state;
    check(0);
}

static void weight_gradient_adds_when_told(void **state) {
    (void)state;
    struct fixture f;
    float dw[OUT * IN], twice[OUT * IN];
    prepare(&f, ROWS);
    linear_backward_weight(ROWS, IN, OUT, f.dy, f.x, 0, dw);
    memcpy(twice, dw, sizeof dw);
    linear_backward_weight(ROWS, IN, OUT, f.dy, f.x, 1, twice);
    for (int i = 0; i < OUT * IN; i++) assert_close(twice[i], 2 * dw[i], 1e-6);
    linear_backward_weight(0, IN, OUT, f.dy, f.x, 1, dw);
    for (int i = 0; i < OUT * IN; i++) assert_close(2 * dw[i], twice[i], 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_rows),
        cmocka_unit_test(one_row),
        cmocka_unit_test(no_rows_make_a_zero_gradient),
        cmocka_unit_test(weight_gradient_adds_when_told),
    };
    return cmocka_run_group_tests_name("kernels: linear", tests, NULL, NULL);
}
