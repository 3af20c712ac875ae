/* SPDX-License-Identifier: MIT */
/* The machine's own speed: fused multiply-adds on registers alone, as many independent
 * chains as it takes to keep every unit busy. It is the yardstick for the steps. */
#include "bench.h"

#include <pthread.h>

#define CHAINS 12       /* two units of four cycles each want at least 8 */
#define ROUNDS 2000000L /* some 20 ms */

/* Turns `rounds` rounds of CHAINS vectors and says how many flops that was; *sink gets
 * a value of the result, so that nothing can be left out. */
typedef double turning(long rounds, float *sink);

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx512f"))) static double turn_avx512(long rounds, float *sink) {
    __m512 chain[CHAINS], factor = _mm512_set1_ps(0.999f), term = _mm512_set1_ps(1e-3f);
    for (int i = 0; i < CHAINS; i++) chain[i] = _mm512_set1_ps((float)(i + 2));
    for (long round = 0; round < rounds; round++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            chain[i] = _mm512_fmadd_ps(chain[i], factor, term);
    }
    for (int i = 1; i < CHAINS; i++) chain[0] = _mm512_add_ps(chain[0], chain[i]);
    *sink = _mm512_cvtss_f32(chain[0]);
    return (double)rounds * CHAINS * 16 * 2;
}

__attribute__((target("avx2,fma"))) static double turn_avx2(long rounds, float *sink) {
    __m256 chain[CHAINS], factor = _mm256_set1_ps(0.999f), term = _mm256_set1_ps(1e-3f);
    for (int i = 0; i < CHAINS; i++) chain[i] = _mm256_set1_ps((float)(i + 2));
    for (long round = 0; round < rounds; round++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            chain[i] = _mm256_fmadd_ps(chain[i], factor, term);
    }
    for (int i = 1; i < CHAINS; i++) chain[0] = _mm256_add_ps(chain[0], chain[i]);
    *sink = _mm256_cvtss_f32(chain[0]);
    return (double)rounds * CHAINS * 8 * 2;
}
#endif

/* Whatever the compiler makes of four floats: SSE2, NEON with its own multiply-add. */
static double turn_vector(long rounds, float *sink) {
    typedef float quad __attribute__((vector_size(16)));
    quad chain[CHAINS], factor = {0.999f, 0.999f, 0.999f, 0.999f};
    quad term = {1e-3f, 1e-3f, 1e-3f, 1e-3f};
    for (int i = 0; i < CHAINS; i++) chain[i] = term * (float)(i + 2);
    for (long round = 0; round < rounds; round++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) chain[i] = chain[i] * factor + term;
    }
    for (int i = 1; i < CHAINS; i++) chain[0] += chain[i];
    *sink = chain[0][0];
    return (double)rounds * CHAINS * 4 * 2;
}

static turning *choose(const char **name) {
#if defined(__x86_64__)
    *name = "AVX-512";
    if (__builtin_cpu_supports("avx512f")) return turn_avx512;
    *name = "AVX2";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return turn_avx2;
#endif
    *name = "vectors of 128 bits";
    return turn_vector;
}

const char *peak_instructions(void) {
    const char *name;
    choose(&name);
    return name;
}

struct turner {
    pthread_barrier_t *barrier;
    double flops, begin, end;
    float sink;
};

static void *turn(void *context) {
    struct turner *turner = context;
    const char *name;
    turning *turn_rounds = choose(&name);
    turn_rounds(ROUNDS / 20, &turner->sink);
    pthread_barrier_wait(turner->barrier);
    turner->begin = bench_seconds();
    turner->flops = turn_rounds(ROUNDS, &turner->sink);
    turner->end = bench_seconds();
    return NULL;
}

double peak_measure(int threads) {
    pthread_barrier_t barrier;
    struct turner turners[2] = {{.barrier = &barrier}, {.barrier = &barrier}};
    pthread_t other;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    if (threads == 2 && pthread_create(&other, NULL, turn, &turners[1]) != 0)
        bench_give_up("no second thread");
    turn(&turners[0]);
    if (threads == 2) pthread_join(other, NULL);
    pthread_barrier_destroy(&barrier);
    double begin = turners[0].begin, end = turners[0].end, flops = turners[0].flops;
    if (threads == 2) {
        begin = turners[1].begin < begin ? turners[1].begin : begin;
        end = turners[1].end > end ? turners[1].end : end;
        flops += turners[1].flops;
    }
    return flops / (end - begin) * 1e-9;
}

bool peak_is_doubled(double one, double two) {
    return two > 1.7 * one;
}
