/* SPDX-License-Identifier: MIT */
/* What the formats and the arithmetic of minisign share. Nobody else includes it. */
#ifndef HOST_BASE_MINISIGN_PARTS_H
#define HOST_BASE_MINISIGN_PARTS_H

#include "minisign.h"

/* A secret key as it lies in its file: all bytes, no holes. */
struct minisign_locked {
    unsigned char kind[2], derivation[2], check[2];
    unsigned char salt[32], operations[8], memory[8]; /* little-endian */
    /* xored with what scrypt makes of the password, as long as these are */
    struct minisign_locked_part {
        unsigned char id[8], key[64], sum[32];
    } part;
};

lathe_status minisign_parse_secret(const char *text, size_t count,
                                   struct minisign_locked *key, struct error *err);
void minisign_encode(const void *bytes, size_t size, struct text *text);

#endif
