/* SPDX-License-Identifier: MIT */
/* Randomness without state: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel
 * random numbers: as easy as 1, 2, 3", SC 2011). A draw is a pure function of key,
 * position and element, so it is the same on any thread, shard or rank, and a
 * checkpoint holds none. */
#ifndef LATHE_RANDOM_H
#define LATHE_RANDOM_H

#include "abi.h"

/* Frozen for ever, and without a size. */
typedef struct lathe_key {
    uint32_t a, b;
} lathe_key;

/* out[4] = Philox 4x32-10 of counter in[4] under the key. [any] */
static inline void lathe_philox(lathe_key key, const uint32_t in[4], uint32_t out[4]) {
    uint32_t c0 = in[0], c1 = in[1], c2 = in[2], c3 = in[3], ka = key.a, kb = key.b;
    for (int round = 0; round < 10; round++) {
        uint64_t p = (uint64_t)0xD2511F53u * c0, q = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(q >> 32) ^ c1 ^ ka, n2 = (uint32_t)(p >> 32) ^ c3 ^ kb;
        c1 = (uint32_t)q;
        c3 = (uint32_t)p;
        c0 = n0;
        c2 = n2;
        ka += 0x9E3779B9u;
        kb += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* A key made from a key: one purpose, one time. Pay it once, not per draw. [any] */
static inline lathe_key lathe_derive(lathe_key key, uint32_t purpose, uint64_t when) {
    uint32_t in[4] = {purpose, 1, (uint32_t)when, (uint32_t)(when >> 32)}, out[4];
    lathe_philox(key, in, out);
    lathe_key derived = {out[0], out[1]};
    return derived;
}

/* Four draws: elements 4*block … 4*block+3 of what stands at `position`. [any] */
static inline void lathe_random4(lathe_key key, uint64_t position, uint64_t block,
                                 uint32_t out[4]) {
    uint32_t in[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)position,
                      (uint32_t)(position >> 32)};
    lathe_philox(key, in, out);
}

/* A draw as a number in [0, 1), all 24 bits of it exact. [any] */
static inline float lathe_unit(uint32_t draw) {
    return (float)(draw >> 8) * 0x1p-24f;
}

#endif
