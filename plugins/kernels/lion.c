/* SPDX-License-Identifier: MIT */
#include "lion.h"

void lion_update(int64_t count, const struct lion_rule *rule,
                 const float *restrict gradient, float *restrict m, float *restrict w) {
    const struct lion_rule r = *rule;
    for (int64_t i = 0; i < count; i++) {
        float more = r.scale * gradient[i] - m[i];
        float c = m[i] + r.fresh1 * more;
        float sign = (float)((c > 0) - (c < 0));
        w[i] = w[i] * r.shrink - r.rate * sign;
        m[i] += r.fresh2 * more;
    }
}
