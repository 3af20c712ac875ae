/* SPDX-License-Identifier: MIT */
/* Shared objects: looked at before they are opened, opened once, never closed. Messages
 * name the cause; where is the file, with its target when it is a link. */
#ifndef HOST_DYLIB_H
#define HOST_DYLIB_H

#include <stddef.h>

#include "base/error.h"

struct dylib;

/* Is this a file that may be opened as a plugin? A regular file (links are followed),
 * 64-bit little-endian ELF for this machine, every PT_LOAD inside the file, no library
 * looked for through $ORIGIN, owned by root, us or the owner of the running program,
 * neither it nor its folder world-writable. Runs no code. The message says what to do
 * (chmod …). */
lathe_status dylib_check(const char *path, struct error *err);
/* As dylib_check; the file that was looked at, open, for the caller to close. */
lathe_status dylib_file(const char *path, int *fd, int64_t *size, struct error *err);
/* As dylib_check, and what the library carries as its note "lathe" of type 1, the
 * manifest. *text is the caller's; NULL: it carries none. */
lathe_status dylib_manifest(const char *path, char **text, size_t *length,
                            struct error *err);
/* Checks, then opens RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE. *library is the caller's,
 * for dylib_close; the code stays mapped for the life of the process. LATHE_EMISSING
 * when the loader refuses (a library or a symbol that is not there), with the loader's
 * words, and when it and something else in the process would use what is the other's:
 * a function of the same name, another library under the same name. */
lathe_status dylib_open(const char *path, struct dylib **library, struct error *err);
/* A symbol of the library itself, not of one that it needs. Borrowed; NULL: none. */
const void *dylib_symbol(const struct dylib *library, const char *name);
/* A function of the library or of any that it needs (such as a BLAS's own settings). */
void (*dylib_function(const struct dylib *library, const char *name))(void);
/* Frees the handle and unmaps nothing; NULL is fine. */
void dylib_close(struct dylib *library);

#endif
