/* SPDX-License-Identifier: MIT */
#include "adamw.h"

#include <math.h>

void adamw_update(int64_t count, const struct adamw_rule *rule,
                  const float *restrict gradient, float *restrict m, float *restrict v,
                  float *restrict w) {
    const struct adamw_rule r = *rule;
    for (int64_t i = 0; i < count; i++) {
        float g = r.scale * gradient[i];
        m[i] += r.fresh1 * (g - m[i]);
        v[i] = r.beta2 * v[i] + r.fresh2 * (g * g);
        w[i] = w[i] * r.shrink - r.pace * (m[i] / (sqrtf(v[i]) * r.widen + r.eps));
    }
}
