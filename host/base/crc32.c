/* SPDX-License-Identifier: MIT */
#include "crc32.h"

#include <string.h>

/* table[0] is the usual one; table[k] advances a byte by k bytes more, so that eight
 * bytes need eight independent look-ups. Made per call, about a microsecond: no
 * globals. */
static void fill_tables(uint32_t table[8][256]) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1)));
        table[0][i] = crc;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++) {
            uint32_t before = table[k - 1][i];
            table[k][i] = (before >> 8) ^ table[0][before & 255];
        }
}

uint32_t crc32_bytes(const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    uint32_t table[8][256], crc = ~0u;
    fill_tables(table);
    for (; count >= 8; count -= 8, at += 8) {
        uint32_t low, high;
        memcpy(&low, at, 4);
        memcpy(&high, at + 4, 4);
        low ^= crc;
        crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^
              table[5][low >> 16 & 255] ^ table[4][low >> 24] ^ table[3][high & 255] ^
              table[2][high >> 8 & 255] ^ table[1][high >> 16 & 255] ^
              table[0][high >> 24];
    }
    while (count--) crc = (crc >> 8) ^ table[0][(crc ^ *at++) & 255];
    return ~crc;
}
