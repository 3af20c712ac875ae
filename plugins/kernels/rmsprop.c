/* SPDX-License-Identifier: MIT */
#include "rmsprop.h"

#include <math.h>
#include <stddef.h>

/* Always called with a and b known to be NULL or not, so that each loop is straight. */
static inline void update(int64_t count, struct rmsprop_rule r,
                          const float *restrict gradient, float *restrict v,
                          float *restrict a, float *restrict b, float *restrict w) {
    for (int64_t i = 0; i < count; i++) {
        float g = r.scale * gradient[i] + r.decay * w[i];
        if (a) {
            float off = g - a[i];
            a[i] += r.fresh * off;
            v[i] = r.keep * (v[i] + r.fresh * (off * off));
        } else {
            v[i] = r.keep * v[i] + r.fresh * (g * g);
        }
        float move = g / (sqrtf(v[i]) + r.eps);
        if (b) move = b[i] = r.momentum * b[i] + move;
        w[i] -= r.rate * move;
    }
}

void rmsprop_update(int64_t count, const struct rmsprop_rule *rule,
                    const float *gradient, float *v, float *a, float *b, float *w) {
    if (a && b)
        update(count, *rule, gradient, v, a, b, w);
    else if (a)
        update(count, *rule, gradient, v, a, NULL, w);
    else if (b)
        update(count, *rule, gradient, v, NULL, b, w);
    else
        update(count, *rule, gradient, v, NULL, NULL, w);
}
