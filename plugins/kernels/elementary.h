/* SPDX-License-Identifier: MIT */
/* exp, tanh and the normal distribution for one float, without branches or calls, so
 * that a loop over them becomes vector code at any instruction set. The polynomials
 * interpolate at Chebyshev nodes, fitted for this file. NaN stays NaN. Not a libm: the
 * domains are what activations and losses need, and bits may differ from libm's. */
#ifndef KERNELS_ELEMENTARY_H
#define KERNELS_ELEMENTARY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* yes ? a : b, by masks: a compiler that keeps floating-point traps in order makes a
 * branch of the plain form, and the loop around it stays scalar. */
static inline float elementary_choose(int yes, float a, float b) {
    uint32_t mask = -(uint32_t)yes, p, q;
    memcpy(&p, &a, sizeof p);
    memcpy(&q, &b, sizeof q);
    p = (p & mask) | (q & ~mask);
    memcpy(&a, &p, sizeof a);
    return a;
}

/* e^x for x <= 88, within 2 ulp; 0 where it would be subnormal (x < -87.33).
 * x = n ln 2 + r, |r| <= ln 2 / 2, e^x = 2^n (1 + r + r^2 q(r)). */
static inline float elementary_exp(float x) {
    const float round_bias = 0x1.8p23f; /* adding it leaves round(x) in the low bits */
    float biased = x * 0x1.715476p+0f + round_bias;
    float n = biased - round_bias;
    float r = (x - n * 0x1.63p-1f) - n * -0x1.bd0106p-13f; /* ln 2 in two parts */
    float q = 0.00139269186f;
    q = q * r + 0.0083637666f;
    q = q * r + 0.0416665487f;
    q = q * r + 0.166665733f;
    q = q * r + 0.5f;
    uint32_t bits;
    float power;
    memcpy(&bits, &biased, sizeof bits);
    bits = (bits << 23) + 0x3f800000u;
    memcpy(&power, &bits, sizeof power);
    float value = (1.0f + (r + r * r * q)) * power;
    return elementary_choose(x < -87.3365447f, 0.0f, value);
}

/* tanh x, within 2 ulp: x + x^3 p(x^2) near 0, else (1 - t) / (1 + t), t = e^-2|x|. */
static inline float elementary_tanh(float x) {
    float a = fabsf(x), z = x * x;
    float p = -0.00604516501f;
    p = p * z + 0.0209613293f;
    p = p * z - 0.0538432635f;
    p = p * z + 0.133327186f;
    p = p * z - 0.333333284f;
    float t = elementary_exp(-2.0f * a);
    float near = x + x * (z * p), far = copysignf((1.0f - t) / (1.0f + t), x);
    return elementary_choose(a < 0.625f, near, far);
}

/* Phi(x), the probability that a standard normal is below x, and in *density its
 * derivative. Within 2.1 ulp for x >= 0, within 2 (2 + x^2) ulp for x < 0, where the
 * textbook's (1 + erf(x / sqrt 2)) / 2 cancels to nothing. For a >= 0
 * Phi(-a) = e^(-a^2/2) u p(v), u = 1 / (1 + 0.29 a), v = 1 - u. */
static inline float elementary_normal(float x, float *density) {
    float a = fabsf(x), e = elementary_exp(-0.5f * x * x);
    float slant = 0.29f * elementary_choose(a < 1e9f, a, 1e9f),
          u = 1.0f / (1.0f + slant), v = slant * u;
    float p = 0.01977087f;
    p = p * v - 0.0594447851f;
    p = p * v + 0.0353481881f;
    p = p * v + 0.0322690792f;
    p = p * v + 0.0443675034f;
    p = p * v - 0.140817046f;
    p = p * v - 0.161444187f;
    p = p * v + 0.721321225f;
    p = p * v - 0.875662923f;
    p = p * v + 0.5f;
    float tail = e * (u * p);
    *density = 0.398942280f * e;
    return elementary_choose(x < 0.0f, tail, 1.0f - tail);
}

#endif
