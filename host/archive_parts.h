/* SPDX-License-Identifier: MIT */
/* What the files of archive, the only ones to see libarchive, share. */
#ifndef HOST_ARCHIVE_PARTS_H
#define HOST_ARCHIVE_PARTS_H

#include <archive.h>

#include "archive.h"

enum compression { COMPRESSION_NONE = 0, COMPRESSION_GZIP, COMPRESSION_ZSTD };

/* A reader over fd from its start, of tar members or of the content as it is; *reader
 * is the caller's. */
lathe_status archive_begin(int fd, const char *path, int is_tar,
                           enum compression *compression, struct archive **reader,
                           struct error *err);
/* Moves to the only "member" of a file that is read as it is. LATHE_END: it is
 * empty. */
lathe_status archive_enter(struct archive *reader, enum compression compression,
                           const char *path, struct error *err);
/* Why a reader failed. */
lathe_status archive_fail(struct archive *reader, enum compression compression,
                          const char *path, struct error *err);

#endif
