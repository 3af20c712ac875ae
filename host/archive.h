/* SPDX-License-Identifier: MIT */
/* Compressed files and tar members, by libarchive: gzip and zstd filters, tar format,
 * raw bytes; nothing else is switched on, and one layer of compression at most.
 * Messages name the file. */
#ifndef HOST_ARCHIVE_H
#define HOST_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Does it start like gzip or zstd? */
int archive_is_compressed(const void *head, size_t count);
/* The content of an open gzip or zstd file, in fresh pages of *bytes, for munmap of
 * *mapped bytes. LATHE_EDATA for a file that is cut short or damaged (gzip's checksum
 * is compared), LATHE_ENOMEM when it is more than the memory of the machine. */
lathe_status archive_inflate(int fd, const char *path, void **bytes, int64_t *count,
                             int64_t *mapped, struct error *err);

/* A stream over a file's content, or over its tar members in turn. Damage is found by
 * the decompressor alone: gzip's checksum is not compared here. */
struct archive_stream;
lathe_status archive_stream_open(const char *path, struct archive_stream **stream,
                                 struct error *err);
/* Moves to the next regular member of a tar file, and puts its name, borrowed until the
 * next call, in *name. LATHE_END after the last one. The first call turns the stream
 * into one over tar members, from the start of the file. */
lathe_status archive_stream_next(struct archive_stream *stream, const char **name,
                                 struct error *err);
/* Fewer than count bytes only at the end of the content or member, 0 from then on. */
lathe_status archive_stream_read(struct archive_stream *stream, void *bytes,
                                 int64_t count, int64_t *got, struct error *err);
void archive_stream_close(struct archive_stream *stream); /* NULL is fine */

#endif
