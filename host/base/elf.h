/* SPDX-License-Identifier: MIT */
/* What a shared object says of itself, read as data: nothing of it is mapped or run.
 * Proves that the loader will find everything it maps inside the file, and which
 * libraries it would look for where. Does not prove that the code is good, and needs no
 * section headers. */
#ifndef HOST_BASE_ELF_H
#define HOST_BASE_ELF_H

#include <stdint.h>

#include "error.h"

/* Is the open file, `size` bytes long, a shared object for this machine that can be
 * mapped whole, and that looks for no library relative to its own or to the current
 * directory? LATHE_EMISSING with the reason; where is the caller's to say. */
lathe_status elf_check(int fd, int64_t size, struct error *err);
/* The note of this owner and type that the file carries: *text is the caller's, ends
 * with a NUL that *length does not count, and is NULL when there is none. */
lathe_status elf_note(int fd, int64_t size, const char *owner, uint32_t type,
                      char **text, size_t *length, struct error *err);

#endif
