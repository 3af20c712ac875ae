/* SPDX-License-Identifier: MIT */
/* Every variant of every kernel gives the bits of the base variant. */
#include "support/variants.h"

#include "kernels/activation.h"
#include "kernels/adamw.h"
#include "kernels/average.h"
#include "kernels/bytes.h"
#include "kernels/lamb.h"
#include "kernels/lion.h"
#include "kernels/loss.h"
#include "kernels/rmsprop.h"
#include "kernels/sgd.h"

VARIANTS(activation_find)
VARIANTS(adamw_update)
VARIANTS(average_update)
VARIANTS(bytes_scale)
VARIANTS(lamb_moments)
VARIANTS(lamb_apply)
VARIANTS(lion_update)
VARIANTS(loss_cross_entropy)
VARIANTS(loss_squared_error)
VARIANTS(loss_rows_correct)
VARIANTS(rmsprop_update)
VARIANTS(sgd_plain)
VARIANTS(sgd_momentum)
VARIANTS(sgd_nesterov)

/* ---- optimizers ---- */

static double adamw(int v, int64_t count, float *const *x) {
    const struct adamw_rule rule = {0.9f,   0.9999f, 0.1f,  0.999f,
                                    0.001f, 0.003f,  1.25f, 1e-8f};
    VARIANT(adamw_update, v)(count, &rule, x[0], x[1], x[2], x[3]);
    return 0;
}

static const struct lamb_rule lamb_rule = {0.9f, 0.1f,  0.999f, 0.001f,
                                           1.1f, 1.25f, 1e-6f,  0.01f};

static double lamb(int v, int64_t count, float *const *x) {
    const struct lamb_norms norms =
        VARIANT(lamb_moments, v)(count, &lamb_rule, x[0], x[1], x[2], x[3]);
    VARIANT(lamb_apply, v)(count, &lamb_rule, 0.01f, x[2], x[3], x[1]);
    x[4][0] = (float)norms.update;
    return norms.weights;
}

static double lion(int v, int64_t count, float *const *x) {
    const struct lion_rule rule = {0.9f, 0.9999f, 0.001f, 0.1f, 0.01f};
    VARIANT(lion_update, v)(count, &rule, x[0], x[1], x[2]);
    return 0;
}

static double rmsprop(int v, int64_t count, float *const *x) {
    const struct rmsprop_rule rule = {0.9f, 0.01f, 0.001f, 0.99f, 0.01f, 1e-8f, 0.9f};
    VARIANT(rmsprop_update, v)(count, &rule, x[0], x[1], NULL, NULL, x[4]);
    VARIANT(rmsprop_update, v)(count, &rule, x[0], x[1], x[2], NULL, x[4]);
    VARIANT(rmsprop_update, v)(count, &rule, x[0], x[1], NULL, x[3], x[4]);
    VARIANT(rmsprop_update, v)(count, &rule, x[0], x[1], x[2], x[3], x[4]);
    return 0;
}

static const struct sgd_rule sgd_rule = {0.9f, 0.1f, 0.001f, 0.9f, 1};

static double plain(int v, int64_t count, float *const *x) {
    VARIANT(sgd_plain, v)(count, &sgd_rule, x[0], x[1]);
    return 0;
}

static double momentum(int v, int64_t count, float *const *x) {
    VARIANT(sgd_momentum, v)(count, &sgd_rule, x[0], x[1], x[2]);
    return 0;
}

static double nesterov(int v, int64_t count, float *const *x) {
    VARIANT(sgd_nesterov, v)(count, &sgd_rule, x[0], x[1], x[2]);
    return 0;
}

/* ---- activations, of a count that is no vector's ---- */

static double activate(const char *name, int v, int64_t count, float *const *x) {
    const struct activation *activation = VARIANT(activation_find, v)(name);
    float *kept = activation->keeps ? x[1] : NULL;
    activation->forward(count, kept, x[2]);
    activation->backward(count, kept, x[2], x[3]);
    return 0;
}

static double relu(int v, int64_t count, float *const *x) {
    return activate("relu", v, count, x);
}

static double gelu(int v, int64_t count, float *const *x) {
    return activate("gelu", v, count, x);
}

static double hyperbolic(int v, int64_t count, float *const *x) {
    return activate("tanh", v, count, x);
}

/* ---- losses ---- */

enum { ROWS_MOST = 1400 };

/* Narrow rows are what there is most of, wide ones fill vectors. */
static double classify(int v, int64_t rows, int64_t classes, float *const *x) {
    int32_t labels[ROWS_MOST];
    for (int64_t i = 0; i < rows; i++) labels[i] = (int32_t)(7 * i % classes);
    double loss = VARIANT(loss_cross_entropy, v)(rows, classes, x[0], labels, x[1]);
    x[2][0] = (float)VARIANT(loss_rows_correct, v)(rows, classes, x[0], labels);
    return loss;
}

static double narrow_classes(int v, int64_t count, float *const *x) {
    return classify(v, count / 3, 3, x);
}

static double wide_classes(int v, int64_t count, float *const *x) {
    return count < 2 ? 0 : classify(v, 2, count / 2, x);
}

static double square(int v, int64_t count, float *const *x) {
    return count < 2 ? 0
                     : VARIANT(loss_squared_error, v)(2, count / 2, x[0], x[1], x[2]);
}

/* ---- others ---- */

static double average(int v, int64_t count, float *const *x) {
    VARIANT(average_update, v)(count, 0.999f, x[0], x[1]);
    return 0;
}

static double bytes(int v, int64_t count, float *const *x) {
    unsigned char from[ROWS_MOST];
    for (int64_t i = 0; i < count && i < ROWS_MOST; i++)
        from[i] = (unsigned char)(7 * i);
    VARIANT(bytes_scale, v)
    (count < ROWS_MOST ? count : ROWS_MOST, from, 1 / (255 * 0.3081), -0.1307 / 0.3081,
     x[0]);
    return 0;
}

static void same_bits(void **state) {
    static const struct variant_case cases[] = {
        {"adamw", adamw},
        {"lamb", lamb},
        {"lion", lion},
        {"rmsprop", rmsprop},
        {"sgd, plain", plain},
        {"sgd, momentum", momentum},
        {"sgd, nesterov", nesterov},
        {"relu", relu},
        {"gelu", gelu},
        {"tanh", hyperbolic},
        {"cross-entropy, narrow", narrow_classes},
        {"cross-entropy, wide", wide_classes},
        {"squared error", square},
        {"moving average", average},
        {"bytes", bytes},
    };
    (void)state;
    variants_check(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits)};
    return cmocka_run_group_tests_name("kernels: variants", tests, NULL, NULL);
}
