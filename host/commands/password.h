/* SPDX-License-Identifier: MIT */
/* The password of a secret key, from whoever uses it: typed at the terminal, or the
 * first line of the file that $LATHE_PASSWORD_FILE names, which may be a descriptor
 * (/dev/fd/3). Never an argument or a variable of its own: other processes see
 * those. */
#ifndef HOST_COMMANDS_PASSWORD_H
#define HOST_COMMANDS_PASSWORD_H

#include <stddef.h>

#include "base/error.h"

#define PASSWORD_FILE "LATHE_PASSWORD_FILE"

/* For minisign_read_secret and keys_sign: `key` is what the password is of, a const
 * char *. LATHE_EPERM: there is nobody to ask, or they gave up. */
lathe_status password_ask(void *key, char *password, size_t size, struct error *err);

#endif
