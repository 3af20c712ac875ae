/* SPDX-License-Identifier: MIT */
/* Functions compiled for several instruction sets: f_base for any processor of the
 * architecture, on x86-64 also f_avx2 and f_avx512. Who writes f, and who calls it,
 * sees f alone: the build compiles its file once per variant, with f renamed, and makes
 * the f that calls the widest variant this processor has (lathe-variants.cmake). Only
 * what the build makes includes this file, and the tests, which call each variant.
 *
 * All variants give the same bits: they are the same C, nothing is fused
 * (-ffp-contract=off), a sum keeps its lanes. A NaN is only promised to be some NaN.
 * Only what is added as FUSED may multiply and add in one, and says so. */
#ifndef LATHE_VARIANTS_H
#define LATHE_VARIANTS_H

#ifdef __x86_64__

enum { VARIANT_BASE, VARIANT_AVX2, VARIANT_AVX512, VARIANT_COUNT };

/* Declares f's variants and the table f_variants of them; f has been declared. */
#define VARIANTS(f)                                                                    \
    extern __typeof__(f) f##_base, f##_avx2, f##_avx512;                               \
    static __typeof__(f) *const f##_variants[VARIANT_COUNT] = {f##_base, f##_avx2,     \
                                                               f##_avx512};

/* The widest variant that processor and system can run: asks for what
 * lathe-variants.cmake compiles with. Reads what the C runtime has found out before
 * main; holds no state, and costs nothing beside a loop over a chunk. */
static inline int variant_widest(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return VARIANT_AVX512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
               ? VARIANT_AVX2
               : VARIANT_BASE;
}

#else

enum { VARIANT_BASE, VARIANT_COUNT };

#define VARIANTS(f)                                                                    \
    extern __typeof__(f) f##_base;                                                     \
    static __typeof__(f) *const f##_variants[VARIANT_COUNT] = {f##_base};

static inline int variant_widest(void) {
    return VARIANT_BASE;
}

#endif

#endif
