/* SPDX-License-Identifier: MIT */
/* Signatures in the formats of minisign (jedisct1.github.io/minisign): what it signs is
 * verified here, and the other way round. Keys are its to make: `minisign -G`. Ed25519
 * is libsodium's, without which nothing is signed or verified (minisign_is_there); the
 * formats are read all the same. Whom to trust is not known here. Texts come as bytes
 * with their count; what is wrong with one is LATHE_EDATA. */
#ifndef HOST_BASE_MINISIGN_H
#define HOST_BASE_MINISIGN_H

#include <stdbool.h>

#include "error.h"
#include "text.h"

#define MINISIGN_NAME 17       /* of a key: 16 hexadecimal digits and a NUL */
#define MINISIGN_COMMENT 8192  /* bytes of a trusted comment, with its NUL */
#define MINISIGN_PASSWORD 1024 /* bytes of a password, with its NUL */
#define MINISIGN_BYTES 16384   /* no key and no signature is longer */

/* Was the program built with libsodium? Else *err (may be NULL) says so. */
bool minisign_is_there(struct error *err);

struct minisign_public {
    unsigned char id[8], key[32];
};
struct minisign_secret {
    unsigned char id[8], key[64];
};
struct minisign_signature {
    bool is_prehashed; /* of BLAKE2b-512 of the bytes, not of the bytes */
    unsigned char id[8], bytes[64], global[64];
    char comment[MINISIGN_COMMENT]; /* believed once it was verified */
};

/* As minisign prints it: "9242A6EB647F81BA". */
void minisign_name(const unsigned char id[8], char name[MINISIGN_NAME]);

/* A key file, or the one line in base64 that "minisign -P" takes. */
lathe_status minisign_read_public(const char *text, size_t count,
                                  struct minisign_public *key, struct error *err);
/* Asks for a password only if the key has one: `ask` fills it in, with a NUL, or fails.
 * LATHE_EPERM: it is another; LATHE_ENOMEM: what minisign takes to make a key of it is
 * not there (1 GiB). Forget the key afterwards. */
lathe_status minisign_read_secret(const char *text, size_t count,
                                  lathe_status (*ask)(void *context, char *password,
                                                      size_t size, struct error *err),
                                  void *context, struct minisign_secret *key,
                                  struct error *err);
void minisign_forget(struct minisign_secret *key); /* overwrites it */
lathe_status minisign_read_signature(const char *text, size_t count,
                                     struct minisign_signature *signature,
                                     struct error *err);

/* Adds a whole signature file to `text`. `comment` is one line; with the same comment
 * the same bytes are signed alike. */
lathe_status minisign_sign(const struct minisign_secret *key, const void *bytes,
                           size_t count, const char *comment, struct text *text,
                           struct error *err);
/* LATHE_EPERM: it is not this key's signature of these bytes and its comment. */
lathe_status minisign_verify(const struct minisign_public *key,
                             const struct minisign_signature *signature,
                             const void *bytes, size_t count, struct error *err);

#endif
