/* SPDX-License-Identifier: MIT */
/* The arithmetic, by libsodium, where it was there when this was built. */
#include <string.h>

#include "minisign_parts.h"

_Static_assert(sizeof(struct minisign_locked) == 158, "as the file has it");

#ifndef LATHE_SODIUM

bool minisign_is_there(struct error *err) {
    fail(err, LATHE_EPLUGIN,
         "this lathe was built without libsodium, which signs and "
         "verifies");
    error_help(err, "install libsodium-dev, configure and build again");
    return false;
}

static lathe_status refuse(struct error *err) {
    minisign_is_there(err);
    return LATHE_EPLUGIN;
}

void minisign_forget(struct minisign_secret *key) {
    explicit_bzero(key, sizeof *key);
}

lathe_status minisign_read_secret(const char *text, size_t count,
                                  lathe_status (*ask)(void *context, char *password,
                                                      size_t size, struct error *err),
                                  void *context, struct minisign_secret *key,
                                  struct error *err) {
    struct minisign_locked locked;
    (void)ask, (void)context, (void)key;
    lathe_status status = minisign_parse_secret(text, count, &locked, err);
    explicit_bzero(&locked, sizeof locked);
    return status ? status : refuse(err);
}

lathe_status minisign_sign(const struct minisign_secret *key, const void *bytes,
                           size_t count, const char *comment, struct text *text,
                           struct error *err) {
    (void)key, (void)bytes, (void)count, (void)comment, (void)text;
    return refuse(err);
}

lathe_status minisign_verify(const struct minisign_public *key,
                             const struct minisign_signature *signature,
                             const void *bytes, size_t count, struct error *err) {
    (void)key, (void)signature, (void)bytes, (void)count;
    return refuse(err);
}

#else

#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>

#define OPERATIONS_MAX ((uint64_t)1 << 28) /* eight times what minisign asks for */
#define MEMORY_MAX ((uint64_t)1 << 32)     /* four times */
#define SUM crypto_sign_BYTES

bool minisign_is_there(struct error *err) {
    if (sodium_init() >= 0) return true;
    fail(err, LATHE_EPLUGIN,
         "libsodium cannot be used: the system has no random "
         "numbers");
    return false;
}

void minisign_forget(struct minisign_secret *key) {
    sodium_memzero(key, sizeof *key);
}

/* ---- secret keys ---- */

static uint64_t number_of(const unsigned char bytes[8]) {
    uint64_t number = 0;
    for (int i = 8; i-- > 0;) number = number << 8 | bytes[i];
    return number;
}

/* With what a wrong password makes, the sum does not come out right. */
static bool is_right(const struct minisign_locked *key) {
    unsigned char sum[32];
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof sum);
    crypto_generichash_update(&state, key->kind, sizeof key->kind);
    crypto_generichash_update(&state, key->part.id, sizeof key->part.id);
    crypto_generichash_update(&state, key->part.key, sizeof key->part.key);
    crypto_generichash_final(&state, sum, sizeof sum);
    return sodium_memcmp(sum, key->part.sum, sizeof sum) == 0;
}

static lathe_status unlock(struct minisign_locked *key, const char *password,
                           struct error *err) {
    const uint64_t operations = number_of(key->operations);
    const uint64_t memory = number_of(key->memory);
    struct minisign_locked_part stream;
    if (operations > OPERATIONS_MAX || memory > MEMORY_MAX)
        return fail(err, LATHE_EDATA,
                    "the key wants more for its password than anybody's does: %llu "
                    "operations, %llu bytes",
                    (unsigned long long)operations, (unsigned long long)memory);
    if (crypto_pwhash_scryptsalsa208sha256((unsigned char *)&stream, sizeof stream,
                                           password, strlen(password), key->salt,
                                           operations, (size_t)memory))
        return fail(err, LATHE_ENOMEM,
                    "a key is made of the password in %llu bytes of memory, which are "
                    "not there",
                    (unsigned long long)memory);
    for (size_t i = 0; i < sizeof stream; i++)
        ((unsigned char *)&key->part)[i] ^= ((const unsigned char *)&stream)[i];
    sodium_memzero(&stream, sizeof stream);
    if (is_right(key)) return LATHE_OK;
    return fail(err, LATHE_EPERM, "the password is not the one of this key");
}

static lathe_status ask_and_unlock(struct minisign_locked *key,
                                   lathe_status (*ask)(void *context, char *password,
                                                       size_t size, struct error *err),
                                   void *context, struct error *err) {
    char password[MINISIGN_PASSWORD] = "";
    lathe_status status = ask ? ask(context, password, sizeof password, err)
                              : fail(err, LATHE_EPERM, "the key has a password");
    password[sizeof password - 1] = '\0';
    if (!status) status = unlock(key, password, err);
    sodium_memzero(password, sizeof password);
    return status;
}

/* One without a password has no sum, but its first half makes its second. */
static lathe_status check_pair(const struct minisign_locked *key, struct error *err) {
    unsigned char public[32], secret[64];
    crypto_sign_seed_keypair(public, secret, key->part.key);
    const bool is_pair = sodium_memcmp(secret, key->part.key, sizeof secret) == 0;
    sodium_memzero(secret, sizeof secret);
    return is_pair ? LATHE_OK
                   : fail(err, LATHE_EDATA,
                          "the secret key is damaged: its halves do "
                          "not belong together");
}

lathe_status minisign_read_secret(const char *text, size_t count,
                                  lathe_status (*ask)(void *context, char *password,
                                                      size_t size, struct error *err),
                                  void *context, struct minisign_secret *key,
                                  struct error *err) {
    struct minisign_locked locked;
    if (!minisign_is_there(err)) return LATHE_EPLUGIN;
    lathe_status status = minisign_parse_secret(text, count, &locked, err);
    if (!status && locked.derivation[0])
        status = ask_and_unlock(&locked, ask, context, err);
    if (!status) status = check_pair(&locked, err);
    if (!status) {
        memcpy(key->id, locked.part.id, sizeof key->id);
        memcpy(key->key, locked.part.key, sizeof key->key);
    }
    sodium_memzero(&locked, sizeof locked);
    return status;
}

/* ---- signing and verifying ---- */

/* What the second signature is of: the first one, and the comment. */
static unsigned char *join(const unsigned char signature[SUM], const char *comment,
                           size_t *count) {
    *count = SUM + strlen(comment);
    unsigned char *all = malloc(*count);
    if (!all) return NULL;
    memcpy(all, signature, SUM);
    memcpy(all + SUM, comment, *count - SUM);
    return all;
}

lathe_status minisign_sign(const struct minisign_secret *key, const void *bytes,
                           size_t count, const char *comment, struct text *text,
                           struct error *err) {
    unsigned char hash[64], signature[2 + 8 + SUM] = "ED", global[SUM], *all = NULL;
    char name[MINISIGN_NAME];
    size_t length;
    if (!minisign_is_there(err)) return LATHE_EPLUGIN;
    if (strpbrk(comment, "\r\n") || strlen(comment) >= MINISIGN_COMMENT)
        return fail(err, LATHE_EINVAL,
                    "a trusted comment is one line of less than %d "
                    "bytes",
                    MINISIGN_COMMENT);
    memcpy(signature + 2, key->id, sizeof key->id);
    crypto_generichash(hash, sizeof hash, bytes, count, NULL, 0);
    crypto_sign_detached(signature + 10, NULL, hash, sizeof hash, key->key);
    all = join(signature + 10, comment, &length);
    if (!all) return fail(err, LATHE_ENOMEM, "no memory to sign");
    crypto_sign_detached(global, NULL, all, length, key->key);
    free(all);
    minisign_name(key->id, name);
    text_format(text, "untrusted comment: verify with minisign public key %s\n", name);
    minisign_encode(signature, sizeof signature, text);
    text_format(text, "\ntrusted comment: %s\n", comment);
    minisign_encode(global, sizeof global, text);
    text_add(text, "\n");
    return text->is_broken ? fail(err, LATHE_ENOMEM, "no memory to sign") : LATHE_OK;
}

static lathe_status tell_wrong(const struct minisign_public *key, const char *what,
                               struct error *err) {
    char name[MINISIGN_NAME];
    minisign_name(key->id, name);
    return fail(err, LATHE_EPERM, "%s is not what key %s has signed", what, name);
}

lathe_status minisign_verify(const struct minisign_public *key,
                             const struct minisign_signature *signature,
                             const void *bytes, size_t count, struct error *err) {
    unsigned char hash[64], *all;
    char by[MINISIGN_NAME], name[MINISIGN_NAME];
    size_t length;
    if (!minisign_is_there(err)) return LATHE_EPLUGIN;
    minisign_name(signature->id, by);
    minisign_name(key->id, name);
    if (memcmp(signature->id, key->id, sizeof key->id) != 0)
        return fail(err, LATHE_EPERM, "it is signed by key %s, not by %s", by, name);
    crypto_generichash(hash, sizeof hash, bytes, count, NULL, 0);
    if (crypto_sign_verify_detached(
            signature->bytes, signature->is_prehashed ? hash : bytes,
            signature->is_prehashed ? sizeof hash : count, key->key))
        return tell_wrong(key, "it", err);
    all = join(signature->bytes, signature->comment, &length);
    if (!all) return fail(err, LATHE_ENOMEM, "no memory to verify");
    const int is_wrong =
        crypto_sign_verify_detached(signature->global, all, length, key->key);
    free(all);
    return is_wrong ? tell_wrong(key, "the trusted comment", err) : LATHE_OK;
}

#endif
