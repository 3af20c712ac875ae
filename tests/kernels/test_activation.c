/* SPDX-License-Identifier: MIT */
/* Each activation against its definition in double, and its gradient against finite
 * differences of that. */
#include "support/arrays.h"

#include "kernels/activation.h"

enum { ROWS = 9, WIDTH = 21 }; /* not a multiple of any vector's length */

static double relu(const void *x) {
    return fmax(*(const double *)x, 0);
}

static double gelu(const void *context) {
    double x = *(const double *)context;
    return x * 0.5 * erfc(-x * sqrt(0.5));
}

static double hyperbolic_tangent(const void *x) {
    return tanh(*(const double *)x);
}

static void check(const char *name, double (*f)(const void *), int64_t rows) {
    const struct activation *activation = activation_find(name);
    float x[ROWS * WIDTH], y[ROWS * WIDTH], kept[ROWS * WIDTH], d[ROWS * WIDTH],
        dy[ROWS * WIDTH];
    assert_non_null(activation);
    assert_string_equal(activation->name, name);
    array_fill(x, ROWS * WIDTH, 4, 1);
    array_fill(dy, ROWS * WIDTH, 1, 3);
    memcpy(y, x, sizeof y);
    memcpy(d, dy, sizeof d);
    activation->forward(rows * WIDTH, activation->keeps ? kept : NULL, y);
    activation->backward(rows * WIDTH, activation->keeps ? kept : NULL, y, d);
    for (int64_t i = 0; i < ROWS * WIDTH; i++) {
        double in = x[i];
        if (i >= rows * WIDTH) {
            assert_true(y[i] == x[i] && d[i] == dy[i]);
            continue;
        }
        assert_close(y[i], f(&in), 1e-6);
        assert_close(d[i], dy[i] * array_slope(f, &in, &in), 2e-6);
    }
}

static void check_rows(const char *name, double (*f)(const void *)) {
    check(name, f, ROWS);
    check(name, f, 1);
    check(name, f, 0);
}

static void relu_and_its_gradient(void **state) {
    (void)state;
    check_rows("relu", relu);
}

static void gelu_and_its_gradient(void **state) {
    (void)state;
    check_rows("gelu", gelu);
}

static void tanh_and_its_gradient(void **state) {
    (void)state;
    check_rows("tanh", hyperbolic_tangent);
}

static void relu_has_no_slope_at_0(void **state) {
    (void)state;
    const struct activation *relu_of = activation_find("relu");
    float y[2] = {0, -1}, d[2] = {5, 5};
    relu_of->forward(2, NULL, y);
    relu_of->backward(2, NULL, y, d);
    assert_true(y[0] == 0 && y[1] == 0 && d[0] == 0 && d[1] == 0);
}

/* Values from the definition, to 7 digits. */
static void gelu_is_the_exact_one(void **state) {
    (void)state;
    float y[4] = {1, -1, 3, -3}, kept[4];
    activation_find("gelu")->forward(4, kept, y);
    assert_close(y[0], 0.8413447461, 1e-7);
    assert_close(y[1], -0.1586552539, 1e-7);
    assert_close(y[2], 2.9959503059, 1e-7);
    assert_close(y[3], -0.0040496941, 1e-9);
}

static void nan_is_not_hidden(void **state) {
    (void)state;
    const char *const names[] = {"relu", "gelu", "tanh"};
    for (int n = 0; n < 3; n++) {
        float y[6] = {1, 2, NAN, 3, 4, NAN}, kept[6];
        activation_find(names[n])->forward(6, kept, y);
        assert_true(isnan(y[2]) && isnan(y[5]) && !isnan(y[3]));
    }
}

static void unknown_name_is_not_found(void **state) {
    (void)state;
    assert_null(activation_find("swish"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relu_and_its_gradient),
        cmocka_unit_test(gelu_and_its_gradient),
        cmocka_unit_test(tanh_and_its_gradient),
        cmocka_unit_test(relu_has_no_slope_at_0),
        cmocka_unit_test(gelu_is_the_exact_one),
        cmocka_unit_test(nan_is_not_hidden),
        cmocka_unit_test(unknown_name_is_not_found),
    };
    return cmocka_run_group_tests_name("kernels: activations", tests, NULL, NULL);
}
