/* SPDX-License-Identifier: MIT */
/* The data files of one session: each is opened, checked and inflated once, whoever
 * asks. */
#ifndef HOST_FILES_H
#define HOST_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct files;

lathe_status files_create(struct files **files, struct error *err);
/* The whole content, read-only, valid until files_destroy; plain files are mapped,
 * compressed ones inflated. The same file under another name is the same bytes. */
lathe_status files_map(struct files *files, const char *path, const void **bytes,
                       int64_t *count, struct error *err);
/* Has a mapped file become shorter since? Then what was read of it is not to be used:
 * LATHE_EDATA, for good. One system call a file, up to 64 files. */
lathe_status files_check(const struct files *files, struct error *err);
/* For the handler of SIGBUS, which reading past the end of such a file raises: puts
 * zeros where the file was, so that the reader can go on until files_check is asked.
 * false: the address is in none of them. */
bool files_mend(struct files *files, const void *address);
/* Notes a file that is read as a stream, so that its digest is recorded too. */
lathe_status files_note(struct files *files, const char *path, struct error *err);
/* Paths of all files so far, in the order of first use; NULL past the last. */
const char *files_path(const struct files *files, size_t index);
void files_destroy(struct files *files);

#endif
