/* SPDX-License-Identifier: MIT */
/* The products of a fully connected layer by everything that can compute them (each
 * variant of our loops, the BLAS) against loops in double, at shapes that fill no
 * panel, tile or vector. Buffers are exact, so that a sanitizer sees a step too far. */
#include "support/variants.h"

#include "kernels/dense.h"
#include "kernels/panels.h"

VARIANTS(panels_forward)
VARIANTS(panels_backward_input)
VARIANTS(panels_backward_weight)
VARIANTS(panels_are_fused)

struct shape {
    int64_t rows, in, out;
};

/* One case: what goes in, and what must come out, row by row. */
struct layer {
    struct shape of;
    float *x, *w, *bias, *dy, *start; /* start: of dw, where it is added to */
    double *y, *dx, *dw, *slack_y, *slack_dx, *slack_dw; /* slack: sums of |terms| */
};

static double *zeros(int64_t count) {
    double *x = calloc((size_t)count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static void multiply(struct layer *l) {
    const struct shape s = l->of;
    for (int64_t r = 0; r < s.rows; r++)
        for (int64_t o = 0; o < s.out; o++) {
            double sum = l->bias[o], slack = fabs(sum);
            const double d = l->dy[r * s.out + o];
            for (int64_t i = 0; i < s.in; i++) {
                const double x = l->x[r * s.in + i], w = l->w[o * s.in + i];
                sum += x * w;
                slack += fabs(x * w);
                l->dx[r * s.in + i] += d * w;
                l->slack_dx[r * s.in + i] += fabs(d * w);
                l->dw[o * s.in + i] += d * x;
                l->slack_dw[o * s.in + i] += fabs(d * x);
            }
            l->y[r * s.out + o] = sum;
            l->slack_y[r * s.out + o] = slack;
        }
}

static struct layer layer_make(struct shape s) {
    struct layer l = {.of = s,
                      .x = array_make(s.rows * s.in, 1, 1),
                      .w = array_make(s.out * s.in, 1, 2),
                      .bias = array_make(s.out, 1, 3),
                      .dy = array_make(s.rows * s.out, 1, 4),
                      .start = array_make(s.out * s.in, 1, 5),
                      .y = zeros(s.rows * s.out),
                      .dx = zeros(s.rows * s.in),
                      .dw = zeros(s.out * s.in),
                      .slack_y = zeros(s.rows * s.out),
                      .slack_dx = zeros(s.rows * s.in),
                      .slack_dw = zeros(s.out * s.in)};
    multiply(&l);
    return l;
}

static void layer_free(struct layer *l) {
    void *all[] = {l->x,  l->w,  l->bias,    l->dy,       l->start,   l->y,
                   l->dx, l->dw, l->slack_y, l->slack_dx, l->slack_dw};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void expect(const char *what, const struct dense *dense, struct shape s,
                   const float *actual, const double *expected, const double *slack,
                   int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!(fabs((double)actual[i] - expected[i]) <= 6e-7 * (slack[i] + 1)))
            fail_msg("%s of %s, rows %d, in %d, out %d: [%d] is %.9g, not %.9g", what,
                     dense->name, (int)s.rows, (int)s.in, (int)s.out, (int)i,
                     (double)actual[i], expected[i]);
}

/* What a pass through a layer makes, row by row. */
struct result {
    float *y, *dx, *dw, *added;
};

static struct result pass(const struct dense *dense, const struct layer *l) {
    const struct shape s = l->of;
    const int64_t wide = dense_wide(dense, s.rows);
    const int64_t padded = dense_padded(dense, s.rows);
    float *x = array_make(padded * s.in, NAN, 1),
          *y = array_make(padded * s.out, NAN, 1);
    float *dy = array_make(padded * s.out, NAN, 1);
    float *dx = array_make(padded * s.in, NAN, 1);
    struct result made = {.y = array_make(s.rows * s.out, NAN, 1),
                          .dx = array_make(s.rows * s.in, NAN, 1),
                          .dw = array_make(s.out * s.in, NAN, 1),
                          .added = array_make(s.out * s.in, 1, 5)};
    panels_pack(s.rows, s.in, wide, l->x, x);
    panels_pack(s.rows, s.out, wide, l->dy, dy);
    dense->forward(s.rows, s.in, s.out, wide, x, l->w, l->bias, y);
    dense->backward_input(s.rows, s.in, s.out, wide, dy, l->w, dx);
    dense->backward_weight(s.rows, s.in, s.out, wide, dy, l->x, 0, made.dw);
    dense->backward_weight(s.rows, s.in, s.out, wide, dy, l->x, 1, made.added);
    panels_unpack(s.rows, s.out, wide, y, made.y);
    panels_unpack(s.rows, s.in, wide, dx, made.dx);
    free(x);
    free(y);
    free(dy);
    free(dx);
    return made;
}

static void result_free(struct result *made) {
    free(made->y);
    free(made->dx);
    free(made->dw);
    free(made->added);
}

static void check(const struct dense *dense, const struct layer *l) {
    const struct shape s = l->of;
    struct result made = pass(dense, l);
    expect("y", dense, s, made.y, l->y, l->slack_y, s.rows * s.out);
    expect("dx", dense, s, made.dx, l->dx, l->slack_dx, s.rows * s.in);
    expect("dw", dense, s, made.dw, l->dw, l->slack_dw, s.out * s.in);
    for (int64_t i = 0; i < s.out * s.in; i++) made.added[i] -= l->start[i];
    expect("dw added", dense, s, made.added, l->dw, l->slack_dw, s.out * s.in);
    result_free(&made);
}

static struct dense variant_of(int v) {
    static const char *const names[] = {"panels, base", "panels, AVX2",
                                        "panels, AVX-512"};
    return (struct dense){names[v], PANELS_WIDEST, VARIANT(panels_forward, v),
                          VARIANT(panels_backward_input, v),
                          VARIANT(panels_backward_weight, v)};
}

static void all_agree_with_double(void **state) {
    static const int64_t rows[] = {1, 2, 31, 33, 64, 130};
    static const int64_t sizes[] = {1, 7, 10, 16, 33, 784};
    (void)state;
    for (int i = 0; i < 6 * 6 * 6; i++) {
        const struct shape shape = {rows[i / 36], sizes[i / 6 % 6], sizes[i % 6]};
        if (shape.rows > 2 && shape.in + shape.out > 1500) continue; /* for time */
        struct layer l = layer_make(shape);
        for (int v = 0; v <= variant_widest(); v++) {
            const struct dense dense = variant_of(v);
            check(&dense, &l);
        }
        check(dense_panels(), &l);
        check(dense_blas(), &l);
        layer_free(&l);
    }
}

static void no_rows_make_a_zero_gradient(void **state) {
    const struct dense *const all[] = {dense_panels(), dense_blas()};
    (void)state;
    for (int i = 0; i < 2; i++) {
        float dw[6] = {1, 2, 3, 4, 5, 6}, none = 0;
        const int64_t wide = dense_wide(all[i], 0);
        assert_int_equal(dense_padded(all[i], 0), 0);
        all[i]->backward_weight(0, 3, 2, wide, &none, &none, 1, dw);
        assert_true(dw[0] == 1 && dw[5] == 6);
        all[i]->backward_weight(0, 3, 2, wide, &none, &none, 0, dw);
        assert_true(dw[0] == 0 && dw[5] == 0);
    }
}

/* What is fused rounds once wherever it runs. */
static void fused_variants_give_the_same_bits(void **state) {
    (void)state;
    struct layer l = layer_make((struct shape){71, 150, 43});
    for (int v = VARIANT_BASE + 1; v < variant_widest(); v++) {
        const struct dense one = variant_of(v), other = variant_of(v + 1);
        struct result a = pass(&one, &l), b = pass(&other, &l);
        assert_memory_equal(a.y, b.y, 71 * 43 * sizeof(float));
        assert_memory_equal(a.dx, b.dx, 71 * 150 * sizeof(float));
        assert_memory_equal(a.dw, b.dw, 43 * 150 * sizeof(float));
        assert_memory_equal(a.added, b.added, 43 * 150 * sizeof(float));
        result_free(&a);
        result_free(&b);
    }
    layer_free(&l);
}

/* A row alone has the bits it has among others. */
static void a_row_depends_on_itself(void **state) {
    (void)state;
    enum { ROWS = 70, IN = 37, OUT = 21 };
    struct layer l = layer_make((struct shape){ROWS, IN, OUT});
    struct result all = pass(dense_panels(), &l);
    struct layer some = l;
    some.of.rows = 1;
    for (int row = 0; row < ROWS; row++, some.x += IN, some.dy += OUT) {
        struct result one = pass(dense_panels(), &some);
        assert_memory_equal(one.y, all.y + row * OUT, OUT * sizeof(float));
        assert_memory_equal(one.dx, all.dx + row * IN, IN * sizeof(float));
        result_free(&one);
    }
    result_free(&all);
    layer_free(&l);
}

static void the_choice_follows_the_processor(void **state) {
    (void)state;
    for (int v = 0; v <= variant_widest(); v++)
        assert_true(VARIANT(panels_are_fused, v)() == (v > VARIANT_BASE));
    const struct dense *chosen = dense_choose();
    assert_true(chosen == dense_blas() ||
                (chosen == dense_panels() && panels_are_fused()));
    print_message("products by %s\n", chosen->name);
}

static void padding_grows_with_rows(void **state) {
    (void)state;
    assert_int_equal(dense_wide(dense_panels(), 1), 16);
    assert_int_equal(dense_wide(dense_panels(), 64), 64);
    assert_int_equal(dense_wide(dense_panels(), 65), 64);
    assert_int_equal(dense_wide(dense_blas(), 65), 80);
    for (int64_t rows = 1; rows < 300; rows++) {
        assert_true(dense_padded(dense_panels(), rows) >= rows);
        assert_true(dense_padded(dense_panels(), rows) <=
                    dense_padded(dense_panels(), rows + 1));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_agree_with_double),
        cmocka_unit_test(no_rows_make_a_zero_gradient),
        cmocka_unit_test(fused_variants_give_the_same_bits),
        cmocka_unit_test(a_row_depends_on_itself),
        cmocka_unit_test(the_choice_follows_the_processor),
        cmocka_unit_test(padding_grows_with_rows),
    };
    return cmocka_run_group_tests_name("kernels: dense", tests, NULL, NULL);
}
