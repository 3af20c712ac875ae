/* SPDX-License-Identifier: MIT */
/* Every kernel of models, forward and backward, against torch's autograd in float64. */
#include "golden.h"

#include "kernels/activation.h"
#include "kernels/dense.h"
#include "kernels/loss.h"
#include "kernels/panels.h"

enum { MOST = 512 };
static const double tolerance = 2e-6;

enum { WIDE = 64 };

static void check_linear(const struct json *c, const struct dense *dense,
                         double *worst) {
    int64_t rows = golden_whole(c, "rows"), in = golden_whole(c, "in");
    int64_t out = golden_whole(c, "out"), wide = dense_wide(dense, rows);
    float x[MOST], w[MOST], dy[MOST], dw[MOST], sum[MOST], bias[MOST] = {0};
    float y[MOST], dx[MOST];
    float panels[4][MOST * WIDE]; /* of x, y, dy, dx */
    array_fill(x, rows * in, 2, 1);
    array_fill(w, out * in, 1, 2);
    array_fill(dy, rows * out, 1, 3);
    array_fill(sum, out * in, 1, 4);
    array_fill(dw, out * in, 1, 5); /* to be overwritten */
    panels_pack(rows, in, wide, x, panels[0]);
    panels_pack(rows, out, wide, dy, panels[2]);
    dense->forward(rows, in, out, wide, panels[0], w, bias, panels[1]);
    dense->backward_input(rows, in, out, wide, panels[2], w, panels[3]);
    dense->backward_weight(rows, in, out, wide, panels[2], x, 0, dw);
    dense->backward_weight(rows, in, out, wide, panels[2], x, 1, sum);
    panels_unpack(rows, out, wide, panels[1], y);
    panels_unpack(rows, in, wide, panels[3], dx);
    golden_expect(y, rows * out, json_get(c, "y"), tolerance, worst, "y");
    golden_expect(dx, rows * in, json_get(c, "dx"), tolerance, worst, "dx");
    golden_expect(dw, out * in, json_get(c, "dw"), tolerance, worst, "dw");
    golden_expect(sum, out * in, json_get(c, "dw_added"), tolerance, worst, "dw added");
}

static void linear(void **state) {
    struct json *root = golden_open("kernels.json");
    const struct json *cases = json_get(root, "linear");
    double worst = 0;
    (void)state;
    for (size_t i = 0; i < json_size(cases); i++) {
        check_linear(json_at(cases, i), dense_panels(), &worst);
        check_linear(json_at(cases, i), dense_blas(), &worst);
    }
    assert_int_equal(json_size(cases), 3);
    print_message("worst error: %.2g\n", worst);
    json_close(root);
}

/* db[width] = (add ? db : 0) + sum over rows of d[rows,width] */
static void sum_rows(int64_t rows, int64_t width, const float *d, int add, float *db) {
    float panels[MOST * WIDE];
    panels_pack(rows, width, WIDE, d, panels);
    panels_backward_bias(rows, width, WIDE, panels, add, db);
}

static void check_activation(const struct json *c, double *worst) {
    const char *name = json_text(json_get(c, "activation"));
    const struct activation *activation = activation_find(name);
    const struct json *special = json_get(c, "special");
    int64_t rows = golden_whole(c, "rows"), width = golden_whole(c, "width");
    int64_t count = rows * width;
    float y[MOST], bias[MOST], kept[MOST], d[MOST], db[MOST], added[MOST];
    assert_non_null(activation);
    array_fill(y, count, 4, 5);
    for (size_t i = 0; i < json_size(special); i++)
        y[i] = (float)json_number(json_at(special, i));
    array_fill(bias, width, 1, 6);
    for (int64_t i = 0; i < width; i++)
        if (fabsf(bias[i]) <= 0.5f) bias[i] = 0;
    array_fill(d, count, 1, 7);
    array_fill(db, width, 1, 8); /* to be overwritten */
    for (int64_t i = 0; i < count; i++) y[i] += bias[i % width];
    activation->forward(count, activation->keeps ? kept : NULL, y);
    golden_expect(y, count, json_get(c, "y"), tolerance, worst, name);
    activation->backward(count, activation->keeps ? kept : NULL, y, d);
    golden_expect(d, count, json_get(c, "d"), tolerance, worst, name);
    sum_rows(rows, width, d, 0, db);
    golden_expect(db, width, json_get(c, "db"), tolerance, worst, name);
    array_fill(added, width, 1, 8);
    sum_rows(rows, width, d, 1, added);
    array_fill(y, width, 1, 8);
    for (int64_t i = 0; i < width; i++) added[i] -= y[i];
    golden_expect(added, width, json_get(c, "db"), tolerance, worst, name);
}

static void activations(void **state) {
    struct json *root = golden_open("kernels.json");
    const struct json *cases = json_get(root, "activation");
    (void)state;
    for (size_t i = 0; i < json_size(cases); i++) {
        double worst = 0;
        check_activation(json_at(cases, i), &worst);
        print_message("%s, worst error: %.2g\n",
                      json_text(json_get(json_at(cases, i), "activation")), worst);
    }
    assert_int_equal(json_size(cases), 3);
    json_close(root);
}

static void cross_entropy(void **state) {
    struct json *root = golden_open("kernels.json");
    const struct json *cases = json_get(root, "cross_entropy");
    double worst = 0;
    (void)state;
    for (size_t i = 0; i < json_size(cases); i++) {
        const struct json *c = json_at(cases, i);
        int64_t rows = golden_whole(c, "rows"), classes = golden_whole(c, "classes");
        float z[MOST], d[MOST];
        int32_t labels[MOST];
        array_fill(z, rows * classes, (float)golden_number(c, "span"), 8);
        for (int64_t row = 0; row < rows; row++)
            labels[row] =
                (int32_t)json_whole(json_at(json_get(c, "labels"), (size_t)row));
        double loss = loss_cross_entropy(rows, classes, z, labels, d);
        assert_close(loss, golden_number(c, "loss"), 1e-6);
        golden_expect(d, rows * classes, json_get(c, "d"), tolerance, &worst, "d");
    }
    assert_int_equal(json_size(cases), 3);
    print_message("worst error: %.2g\n", worst);
    json_close(root);
}

static void squared_error(void **state) {
    struct json *root = golden_open("kernels.json");
    const struct json *cases = json_get(root, "squared_error");
    double worst = 0;
    (void)state;
    for (size_t i = 0; i < json_size(cases); i++) {
        const struct json *c = json_at(cases, i);
        int64_t rows = golden_whole(c, "rows"), width = golden_whole(c, "width");
        float y[MOST], t[MOST], d[MOST];
        array_fill(y, rows * width, 2, 9);
        array_fill(t, rows * width, 2, 10);
        double loss = loss_squared_error(rows, width, y, t, d);
        assert_close(loss, golden_number(c, "loss"), 1e-6);
        golden_expect(d, rows * width, json_get(c, "d"), tolerance, &worst, "d");
    }
    assert_int_equal(json_size(cases), 2);
    print_message("worst error: %.2g\n", worst);
    json_close(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear),
        cmocka_unit_test(activations),
        cmocka_unit_test(cross_entropy),
        cmocka_unit_test(squared_error),
    };
    return cmocka_run_group_tests_name("kernels against torch", tests, NULL, NULL);
}
