/* SPDX-License-Identifier: MIT */
#include "sgd.h"

void sgd_plain(int64_t count, const struct sgd_rule *rule,
               const float *restrict gradient, float *restrict w) {
    const struct sgd_rule r = *rule;
    for (int64_t i = 0; i < count; i++)
        w[i] -= r.rate * (r.scale * gradient[i] + r.decay * w[i]);
}

void sgd_momentum(int64_t count, const struct sgd_rule *rule,
                  const float *restrict gradient, float *restrict b,
                  float *restrict w) {
    const struct sgd_rule r = *rule;
    for (int64_t i = 0; i < count; i++) {
        float g = r.scale * gradient[i] + r.decay * w[i];
        b[i] = r.keep * b[i] + r.fresh * g;
        w[i] -= r.rate * b[i];
    }
}

void sgd_nesterov(int64_t count, const struct sgd_rule *rule,
                  const float *restrict gradient, float *restrict b,
                  float *restrict w) {
    const struct sgd_rule r = *rule;
    for (int64_t i = 0; i < count; i++) {
        float g = r.scale * gradient[i] + r.decay * w[i];
        b[i] = r.keep * b[i] + r.fresh * g;
        w[i] -= r.rate * (g + r.keep * b[i]);
    }
}
