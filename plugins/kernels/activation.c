/* SPDX-License-Identifier: MIT */
#include "activation.h"

#include <string.h>

#include "elementary.h"

/* y[count] = relu(y). Written so that NaN is not "less than 0". */
static void relu_forward(int64_t count, float *restrict kept, float *restrict y) {
    (void)kept;
    for (int64_t i = 0; i < count; i++) {
        float x = y[i];
        y[i] = x < 0.0f ? 0.0f : x;
    }
}

/* d[count] = 0 where y is 0 */
static void relu_backward(int64_t count, const float *restrict kept,
                          const float *restrict y, float *restrict d) {
    (void)kept;
    for (int64_t i = 0; i < count; i++) {
        float passed = d[i];
        d[i] = y[i] <= 0.0f ? 0.0f : passed;
    }
}

/* y[count] = y Phi(y), kept = Phi(y) + y phi(y). The slope comes almost free here, and
 * backward is a product. */
static void gelu_forward(int64_t count, float *restrict kept, float *restrict y) {
    for (int64_t i = 0; i < count; i++) {
        float x = y[i], density;
        float below = elementary_normal(x, &density);
        y[i] = x * below;
        kept[i] = below + x * density;
    }
}

/* d[count] *= slope, which forward kept */
static void gelu_backward(int64_t count, const float *restrict kept,
                          const float *restrict y, float *restrict d) {
    (void)y;
    for (int64_t i = 0; i < count; i++) d[i] *= kept[i];
}

/* y[count] = tanh(y) */
static void tanh_forward(int64_t count, float *restrict kept, float *restrict y) {
    (void)kept;
    for (int64_t i = 0; i < count; i++) y[i] = elementary_tanh(y[i]);
}

/* d[count] *= 1 - y^2 */
static void tanh_backward(int64_t count, const float *restrict kept,
                          const float *restrict y, float *restrict d) {
    (void)kept;
    for (int64_t i = 0; i < count; i++) d[i] *= 1.0f - y[i] * y[i];
}

static const struct activation activations[] = {
    {"relu", 0, relu_forward, relu_backward},
    {"gelu", 1, gelu_forward, gelu_backward},
    {"tanh", 0, tanh_forward, tanh_backward},
};

const struct activation *activation_find(const char *name) {
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (!strcmp(activations[i].name, name)) return &activations[i];
    return NULL;
}
