/* SPDX-License-Identifier: MIT */
/* Whole files. Messages name the file and the cause. */
#ifndef HOST_BASE_FILE_H
#define HOST_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct dirent;
struct stat;

/* Opens a regular file for reading without blocking on FIFOs and devices; links are
 * followed. *size may be NULL. Returns the descriptor through *fd. */
lathe_status file_open(const char *path, int *fd, int64_t *size, struct error *err);
/* The content and a NUL after it, in memory of the caller's; more than `limit` bytes is
 * LATHE_EDATA. *length may be NULL. */
lathe_status file_read(const char *path, size_t limit, char **content, size_t *length,
                       struct error *err);
/* Writes aside (a hidden name in the same directory), fsyncs, renames: the file is the
 * old one or the new one, never half. */
lathe_status file_replace(const char *path, const void *bytes, size_t count,
                          struct error *err);
/* The same without fsync: a loss of power within the next half minute may leave the
 * file empty. For what can also be learned elsewhere. */
lathe_status file_replace_unsynced(const char *path, const void *bytes, size_t count,
                                   struct error *err);
/* Takes a descriptor and gives one that is not stdin, stdout or stderr, also where
 * somebody closed those; below 0 it stays. A plugin's printf must not end in a file. */
int file_keep_clear(int fd);
/* write(2) until all is written. */
lathe_status file_write(int fd, const void *bytes, size_t count, const char *path,
                        struct error *err);

/* Removes all that is in an open folder. Links are not followed; what cannot be removed
 * stays. */
void file_clear(int folder);
/* The same, and then the folder itself. */
void file_remove_tree(const char *path);
/* Are they two looks at one file? */
bool file_is_same(const struct stat *a, const struct stat *b);
/* Is `path`, which need not be there, the directory or in it, at whatever depth? Links
 * are resolved. */
bool file_is_inside(const char *path, const char *directory);
/* For scandir: in byte order, whatever the locale. */
int file_compare_entries(const struct dirent **a, const struct dirent **b);
/* Where temporary files go: $TMPDIR, or else the system's. */
const char *file_temporary(void);

#endif
