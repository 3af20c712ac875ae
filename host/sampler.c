/* SPDX-License-Identifier: MIT */
#include "sampler.h"

#define ROUNDS 8
#define LEAST_BITS 6 /* below this the rounds have too little to mix */

static uint32_t bits_of(uint64_t number) {
    uint32_t bits = 0;
    for (; number; number >>= 1) bits++;
    return bits;
}

static uint32_t mask_of(uint32_t bits) {
    return bits >= 32 ? UINT32_MAX : (1u << bits) - 1;
}

/* A round function need not be invertible, only well mixed: the finaliser of
 * MurmurHash3 (Appleby, public domain) on the half and the round's key. */
static uint32_t mix(uint32_t half, uint32_t key) {
    uint32_t h = half ^ key;
    h ^= h >> 16;
    h *= 0x85EBCA6Bu;
    h ^= h >> 13;
    h *= 0xC2B2AE35u;
    return h ^ h >> 16;
}

void order_init(struct order *order, lathe_key key, int64_t length) {
    uint32_t bits = bits_of(length > 0 ? (uint64_t)length - 1 : 0);
    if (bits < LEAST_BITS) bits = LEAST_BITS;
    order->length = length;
    order->low_bits = bits / 2;
    order->high_bits = bits - bits / 2;
    for (uint32_t block = 0; block < ROUNDS / 4; block++)
        lathe_random4(key, 0, block, &order->keys[4 * (size_t)block]);
}

/* Unbalanced Feistel network (Black and Rogaway, "Ciphers with arbitrary finite
 * domains", CT-RSA 2002): each round is undone by its own inverse, so the whole is a
 * bijection of 0 … 2^bits-1; walking the cycle until it is back below `length` keeps it
 * one there. */
int64_t order_at(const struct order *order, int64_t position) {
    const uint32_t low_bits = order->low_bits;
    const uint32_t low_mask = mask_of(low_bits), high_mask = mask_of(order->high_bits);
    uint64_t at = (uint64_t)position;
    do {
        uint32_t low = (uint32_t)at & low_mask, high = (uint32_t)(at >> low_bits);
        for (int round = 0; round < ROUNDS; round += 2) {
            high ^= mix(low, order->keys[round]) & high_mask;
            low ^= mix(high, order->keys[round + 1]) & low_mask;
        }
        at = (uint64_t)high << low_bits | low;
    } while (at >= (uint64_t)order->length);
    return (int64_t)at;
}

void sampler_init(struct sampler *sampler, int64_t samples, int64_t batch,
                  int64_t accumulate) {
    sampler->samples = samples;
    sampler->batch = batch;
    sampler->accumulate = accumulate;
    sampler->micros_per_epoch = samples / batch + (samples % batch != 0);
    sampler->steps_per_epoch = sampler->micros_per_epoch / accumulate +
                               (sampler->micros_per_epoch % accumulate != 0);
}

int64_t sampler_window(const struct sampler *sampler, int64_t step) {
    int64_t left = sampler->micros_per_epoch - step * sampler->accumulate;
    return left < sampler->accumulate ? left : sampler->accumulate;
}

int64_t sampler_rows(const struct sampler *sampler, int64_t micro) {
    int64_t left = sampler->samples - micro * sampler->batch;
    return left < sampler->batch ? left : sampler->batch;
}
