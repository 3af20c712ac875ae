/* SPDX-License-Identifier: MIT */
/* The data files of one session: each is opened, checked and inflated once, whoever
 * asks. */
#ifndef HOST_FILES_H
#define HOST_FILES_H

#include <stdint.h>

#include "base/error.h"

struct files;

lathe_status files_create(struct files **files, struct error *err);
/* The whole content, read-only, valid until files_destroy; plain files are mapped,
 * compressed ones inflated. The same file under another name is the same bytes. */
lathe_status files_map(struct files *files, const char *path, const void **bytes,
                       int64_t *count, struct error *err);
/* Notes a file that is read as a stream, so that its digest is recorded too. */
lathe_status files_note(struct files *files, const char *path, struct error *err);
/* Paths of all files so far, in the order of first use; NULL past the last. */
const char *files_path(const struct files *files, size_t index);
void files_destroy(struct files *files);

#endif
