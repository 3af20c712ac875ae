/* SPDX-License-Identifier: MIT */
/* Whom the user trusts to have signed a bundle, and what is done about one that nobody
 * of those has: <config>/lathe/trusted/NAME.pub, public keys of minisign, and
 * <config>/lathe/config.json, {"bundles": "any" | "warn" | "signed-only"}, <config>
 * being the XDG configuration directory. Without them nobody is trusted, and "warn"
 * holds. Files that others can write to are refused, and so is what is no key. No key
 * that came with a bundle gets here. What is signed is bytes: the caller knows which.
 *
 *     struct keys *keys;
 *     struct keys_check check;
 *     status = keys_open(&keys, &err);
 *     keys_check(keys, bytes, count, signature, signature_count, &check);
 *     switch (keys_judge(keys, &check, &err)) …
 *     keys_close(keys);
 */
#ifndef HOST_KEYS_H
#define HOST_KEYS_H

#include "base/minisign.h"

enum keys_policy { KEYS_ANY = 0, KEYS_WARN, KEYS_SIGNED_ONLY };

struct keys;

/* The user's. LATHE_EDATA: a file is not what it should be; LATHE_EINVAL:
 * config.json; LATHE_EPERM: anybody could have written one. */
lathe_status keys_open(struct keys **keys, struct error *err);
/* Only this one counts, and it has to have signed: a file of minisign's, or the line of
 * base64 in it. */
lathe_status keys_open_one(const char *key, struct keys **keys, struct error *err);
enum keys_policy keys_policy(const struct keys *keys);
const char *keys_policy_name(enum keys_policy policy); /* "signed-only" */
size_t keys_count(const struct keys *keys);
/* Its name, which is the file's without ".pub", and its number; borrowed. */
const char *keys_at(const struct keys *keys, size_t index, char number[MINISIGN_NAME]);
void keys_close(struct keys *keys); /* NULL is fine */

/* ---- checking ---- */

enum keys_verdict {
    KEYS_UNSIGNED = 0,
    KEYS_UNKNOWN,   /* by a key that is not trusted, so nobody knows whether rightly */
    KEYS_UNCHECKED, /* by a trusted one, and there is no libsodium to check it */
    KEYS_WRONG,     /* no signature, or not of these bytes */
    KEYS_TRUSTED
};

struct keys_check {
    enum keys_verdict verdict;
    char number[MINISIGN_NAME]; /* of the key that it says signed; "" for none */
    const char *name;           /* of the trusted one; NULL; borrowed from the keys */
    char comment[MINISIGN_COMMENT]; /* the trusted comment; "" unless KEYS_TRUSTED */
    struct error why;               /* KEYS_WRONG, KEYS_UNCHECKED: what is wrong */
};

/* `signature` is a whole signature file; NULL: there is none. */
void keys_check(const struct keys *keys, const void *bytes, size_t count,
                const char *signature, size_t signature_count,
                struct keys_check *check);

enum keys_decision { KEYS_ACCEPT = 0, KEYS_ACCEPT_AND_WARN, KEYS_REFUSE };
/* What the policy makes of it; *err, of LATHE_EPERM, says why unless it is
 * accepted. A signature that is wrong is refused by any policy. */
enum keys_decision keys_judge(const struct keys *keys, const struct keys_check *check,
                              struct error *err);

/* ---- signing ---- */

/* Signs with the secret key in a file, which minisign made; the signature file is added
 * to `text`. `ask` as for minisign_read_secret. */
lathe_status keys_sign(const char *path,
                       lathe_status (*ask)(void *context, char *password, size_t size,
                                           struct error *err),
                       void *context, const void *bytes, size_t count,
                       const char *comment, struct text *text, struct error *err);

#endif
