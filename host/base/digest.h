/* SPDX-License-Identifier: MIT */
/* SHA-256, by nettle. */
#ifndef HOST_BASE_DIGEST_H
#define HOST_BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define DIGEST_HEX 65 /* 64 digits and a NUL */

/* A sum in the making, of bytes that come in pieces. Needs no end. */
struct digest {
    uint64_t state[16]; /* nettle's */
};

void digest_begin(struct digest *digest);
void digest_add(struct digest *digest, const void *bytes, size_t count);
void digest_end(struct digest *digest, char hex[DIGEST_HEX]);

void digest_bytes(const void *bytes, size_t count, char hex[DIGEST_HEX]);
/* Is it the text of one: 64 small hexadecimal digits? */
bool digest_is_text(const char *text);
/* Of a file's content, read in pieces. is_cancelled may be NULL; when it comes to hold
 * something other than 0, gives up with LATHE_STOP. */
lathe_status digest_file(const char *path, const volatile int *is_cancelled,
                         char hex[DIGEST_HEX], struct error *err);

#endif
