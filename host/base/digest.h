/* SPDX-License-Identifier: MIT */
/* SHA-256, by nettle. */
#ifndef HOST_BASE_DIGEST_H
#define HOST_BASE_DIGEST_H

#include <stddef.h>

#include "error.h"

#define DIGEST_HEX 65 /* 64 digits and a NUL */

void digest_bytes(const void *bytes, size_t count, char hex[DIGEST_HEX]);
/* Of a file's content, read in pieces. is_cancelled may be NULL; when it comes to hold
 * something other than 0, gives up with LATHE_STOP. */
lathe_status digest_file(const char *path, const volatile int *is_cancelled,
                         char hex[DIGEST_HEX], struct error *err);

#endif
