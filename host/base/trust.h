/* SPDX-License-Identifier: MIT */
/* May a file be believed? Only if nobody can have written it but root, whoever runs
 * this program, or the owner of the program itself; of a program with raised privileges
 * (setuid, file capabilities) whoever runs it does not count. LATHE_EPERM with the
 * reason, and help that shows the command which mends it. */
#ifndef HOST_BASE_TRUST_H
#define HOST_BASE_TRUST_H

#include <stdbool.h>

#include "error.h"

/* The open file, known as `path`, and the folder it is in; where `path` is a link, also
 * the folder of each link on the way to the file. */
lathe_status trust_check(int fd, const char *path, struct error *err);
/* A folder further up. World-writable is fine if it is sticky, as /tmp is. */
lathe_status trust_check_folder(const char *path, struct error *err);
/* "path", or "path -> target" for one that a link leads away from; the caller's; NULL:
 * out of memory. */
char *trust_show(const char *path);

#endif
