/* SPDX-License-Identifier: MIT */
/* A tar file that holds regular files and nothing else: what a bundle is packed in.
 * What is written is the same bytes for the same members. What is read may come from
 * anybody, so it is looked at header by header, as it stands in the file: libarchive
 * inflates it, and its own tar reader, which folds the records of pax and GNU tar into
 * the member that they change, is not asked. No file is created here, and what a member
 * means is not known. Messages name the file. */
#ifndef HOST_ARCHIVE_TAR_H
#define HOST_ARCHIVE_TAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define ARCHIVE_NAME_MAX 200        /* bytes of a member's name */
#define ARCHIVE_PART_MAX 100        /* … of what is between two '/' */
#define ARCHIVE_DEPTH_MAX 8         /* such parts */
#define ARCHIVE_MEMBERS_MAX 4096    /* of one file */
#define ARCHIVE_RATIO_MAX 200       /* inflated to compressed, once … */
#define ARCHIVE_RATIO_FROM 67108864 /* … this much was inflated */

/* May a member be called so? A relative name of letters, digits and . _ - between
 * single '/', no part of it beginning with '.'. LATHE_EDATA with the reason. */
lathe_status archive_check_name(const char *name, struct error *err);

/* ---- reading ---- */

struct archive_tar;

struct archive_member {
    char name[ARCHIVE_NAME_MAX + 1]; /* as archive_check_name allows */
    int64_t size;
};

/* zstd, gzip, or not compressed. LATHE_ENOTFOUND, LATHE_EIO, LATHE_EDATA. */
lathe_status archive_tar_open(const char *path, struct archive_tar **tar,
                              struct error *err);
/* Moves to the next member, past what is left of this one; borrowed until the next
 * call. LATHE_END: that was the last, and nothing stands behind it. LATHE_EDATA:
 * anything but a plain regular file (links, directories, devices, records of pax,
 * holes, set-user-id bits, a name that is not allowed), damage, too many, or a file
 * that inflates to too much. */
lathe_status archive_tar_next(struct archive_tar *tar,
                              const struct archive_member **member, struct error *err);
/* The bytes of the member that come next, borrowed until the next call; *count 0 at its
 * end. */
lathe_status archive_tar_read(struct archive_tar *tar, const void **bytes,
                              size_t *count, struct error *err);
void archive_tar_close(struct archive_tar *tar); /* NULL is fine */

/* ---- writing ---- */

struct archive_writer;

/* A tar file in zstd, written to an empty file. */
lathe_status archive_writer_create(int fd, const char *path,
                                   struct archive_writer **writer, struct error *err);
/* Begins a member; exactly `size` bytes have to follow. LATHE_EINVAL: its name is not
 * allowed, or tar cannot say its size. */
lathe_status archive_writer_begin(struct archive_writer *writer, const char *name,
                                  int64_t size, struct error *err);
/* LATHE_EINVAL: a reader would not take it, as it inflates to too much. */
lathe_status archive_writer_add(struct archive_writer *writer, const void *bytes,
                                size_t count, struct error *err);
/* Ends the file; fails as above. */
lathe_status archive_writer_finish(struct archive_writer *writer, struct error *err);
/* Frees; what was not finished is no whole file. NULL is fine. */
void archive_writer_destroy(struct archive_writer *writer);

#endif
