/* SPDX-License-Identifier: MIT */
/* Floats of 16 bits, IEEE's binary16 ("F16") and bfloat16 ("BF16"), as floats of 32,
 * which hold every one of them exactly. */
#ifndef HOST_BASE_HALF_H
#define HOST_BASE_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float half_from_bits(uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline float half_widen(uint16_t half) {
    const uint32_t sign = (uint32_t)(half >> 15) << 31, fraction = half & 0x3ffu;
    const uint32_t exponent = half >> 10 & 0x1fu;
    if (exponent == 0) {
        const float small = ldexpf((float)fraction, -24);
        return sign ? -small : small;
    }
    if (exponent == 31) return half_from_bits(sign | 0x7f800000u | fraction << 13);
    return half_from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

static inline float half_widen_bfloat(uint16_t bfloat) {
    return half_from_bits((uint32_t)bfloat << 16);
}

#endif
