/* SPDX-License-Identifier: MIT */
/* Every variant of a function on floats against its base: lengths that fill no vector,
 * starts that are not aligned, NaN, infinities and subnormals in between, and nothing
 * written past the end. */
#ifndef TESTS_SUPPORT_VARIANTS_H
#define TESTS_SUPPORT_VARIANTS_H

#include "arrays.h"

#include <float.h>
#include <stdio.h>

#include "lathe-variants.h"

#define VARIANT_ARRAYS 6
#define VARIANT_LENGTH 4400 /* of each array; a case may use the first 4200 */

/* Variant `v` of f; past the last, f itself. */
#define VARIANT(f, v) ((v) < VARIANT_COUNT ? f##_variants[v] : (f))

struct variant_case {
    const char *name;
    /* Calls the variant on the arrays, `count` floats of each at most; returns what the
     * function returns, or 0. */
    double (*run)(int variant, int64_t count, float *const *x);
};

struct variant_arrays {
    _Alignas(64) float data[VARIANT_ARRAYS][VARIANT_LENGTH];
    float *x[VARIANT_ARRAYS];
};

/* The same for the same seed; arrays start `shift` floats past a vector's, and more. */
static inline void variant_fill(struct variant_arrays *a, uint32_t seed, int shift) {
    static const float special[] = {NAN,      INFINITY,  -INFINITY, 0.0f,    -0.0f,
                                    FLT_MAX,  -FLT_MAX,  FLT_MIN,   1e-40f,  -1e-45f,
                                    3.4e-20f, -3.4e-20f, 88.5f,     -103.0f, 0.625f};
    const int count = (int)(sizeof special / sizeof *special);
    for (int i = 0; i < VARIANT_ARRAYS; i++) {
        uint32_t at = seed + (uint32_t)i;
        array_fill(a->data[i], VARIANT_LENGTH, i % 2 ? 0.1f : 4, at);
        for (; seed % 2 && at < VARIANT_LENGTH; at += 5 + at % 17)
            a->data[i][at] = special[at % (uint32_t)count];
        a->x[i] = a->data[i] + (shift + i * shift) % 16;
    }
}

/* The same bits; one NaN is as good as another. */
static inline int variant_differs(float a, float b) {
    return isnan(a) ? !isnan(b) : memcmp(&a, &b, sizeof a) != 0;
}

static inline void variant_compare(const char *what, const struct variant_arrays *base,
                                   const struct variant_arrays *other) {
    if (memcmp(base->data, other->data, sizeof base->data) == 0) return;
    for (int i = 0; i < VARIANT_ARRAYS; i++)
        for (int j = 0; j < VARIANT_LENGTH; j++)
            if (variant_differs(base->data[i][j], other->data[i][j]))
                fail_msg("%s: array %d at %d is %a, not %a", what, i, j,
                         (double)other->data[i][j], (double)base->data[i][j]);
}

/* One call on `start`, by the base and by another variant. */
static inline void variant_check(const struct variant_case *c, int variant,
                                 int64_t count, const struct variant_arrays *start,
                                 struct variant_arrays *base,
                                 struct variant_arrays *other) {
    char what[96];
    snprintf(what, sizeof what, "%s, variant %d, %d floats", c->name, variant,
             (int)count);
    memcpy(base->data, start->data, sizeof start->data);
    memcpy(other->data, start->data, sizeof start->data);
    double expected = c->run(VARIANT_BASE, count, base->x);
    double actual = c->run(variant, count, other->x);
    if (isnan(expected) ? !isnan(actual) : expected != actual)
        fail_msg("%s: returns %a, not %a", what, actual, expected);
    variant_compare(what, base, other);
    if (count > 8 && expected == 0 &&
        memcmp(start->data, base->data, sizeof base->data) == 0)
        fail_msg("%s: does nothing", what);
}

/* All variants that this processor can run, and the plain function. */
static inline void variants_check(const struct variant_case *cases, size_t count) {
    static struct variant_arrays start, base, other;
    int variants = variant_widest() + 1;
    print_message("variants here: %d of %d\n", variants, VARIANT_COUNT);
    for (int round = 0; round < 6; round++) {
        variant_fill(&start, 4 + (uint32_t)round % 2, round / 2);
        variant_fill(&base, 0, round / 2);
        variant_fill(&other, 0, round / 2);
        for (size_t i = 0; i < count; i++)
            for (int v = 1; v <= variants; v++)
                for (int64_t n = 0; n <= 4200; n += n < 70 ? 1 : 1377)
                    variant_check(&cases[i], v < variants ? v : VARIANT_COUNT, n,
                                  &start, &base, &other);
    }
}

#endif
