/* SPDX-License-Identifier: MIT */
#include "lamb.h"

#include <math.h>

enum { LANES = 8, BLOCK = 64 * LANES };

static inline float direction(const struct lamb_rule *r, float m, float v, float w) {
    return r->unbias * m / (sqrtf(v) * r->widen + r->eps) + r->decay * w;
}

/* Lane l gets x[l]^2 + x[l + LANES]^2 + …: an order that vectors can keep. */
static void add_squares(int64_t count, const float *restrict x,
                        double *restrict lanes) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int l = 0; l < LANES; l++) lanes[l] += (double)x[i + l] * (double)x[i + l];
    for (; i < count; i++) lanes[i % LANES] += (double)x[i] * (double)x[i];
}

static double norm(const double *lanes) {
    double sum = 0;
    for (int l = 0; l < LANES; l++) sum += lanes[l];
    return sqrt(sum);
}

/* gradient, w, m, v, u: [count] */
static void moments(int64_t count, struct lamb_rule r, const float *restrict gradient,
                    const float *restrict w, float *restrict m, float *restrict v,
                    float *restrict u) {
    for (int64_t i = 0; i < count; i++) {
        float g = r.scale * gradient[i];
        m[i] += r.fresh1 * (g - m[i]);
        v[i] = r.beta2 * v[i] + r.fresh2 * (g * g);
        u[i] = direction(&r, m[i], v[i], w[i]);
    }
}

struct lamb_norms lamb_moments(int64_t count, const struct lamb_rule *rule,
                               const float *gradient, const float *w, float *m,
                               float *v) {
    double of_weights[LANES] = {0}, of_update[LANES] = {0};
    for (int64_t first = 0; first < count; first += BLOCK) {
        float u[BLOCK];
        int64_t length = count - first < BLOCK ? count - first : BLOCK;
        moments(length, *rule, gradient + first, w + first, m + first, v + first, u);
        add_squares(length, w + first, of_weights);
        add_squares(length, u, of_update);
    }
    return (struct lamb_norms){norm(of_weights), norm(of_update)};
}

void lamb_apply(int64_t count, const struct lamb_rule *rule, float rate,
                const float *restrict m, const float *restrict v, float *restrict w) {
    const struct lamb_rule r = *rule;
    for (int64_t i = 0; i < count; i++) w[i] -= rate * direction(&r, m[i], v[i], w[i]);
}
