/* SPDX-License-Identifier: MIT */
/* Predictions as a file, row by row: CSV, or one array as NumPy saves it. A regular
 * file is written aside, and replaced when the new one is whole, also behind a link; a
 * pipe or device gets the bytes as they come. Memory is bounded by the rows that come
 * at a time. Where the rows come from is not known here. */
#ifndef HOST_COMMANDS_SHEET_H
#define HOST_COMMANDS_SHEET_H

#include <stdbool.h>

#include <lathe/session.h>

#include "base/error.h"
#include "base/text.h"
#include "bundle/staging.h"

/* Starts as SHEET_NONE. */
struct sheet {
    const char *path;   /* "-": CSV on standard output */
    const char *output; /* which of several; NULL: all, in .npy the only one */
    /* sheet.c's own */
    bool is_npy;
    int fd;
    char *target, *aside;   /* NULL: no regular file */
    struct staging staging; /* which holds `aside` */
    struct text text;
    struct error err;
};
#define SHEET_NONE                                                                     \
    { .fd = -1, .staging = STAGING_NONE }

/* Looks at path and output, which are set. LATHE_EINVAL: no format has that name;
 * LATHE_ECREATE. Finish it in any case. */
lathe_status sheet_open(struct sheet *sheet);
/* The rows that come next; with the first ones, what stands above them. LATHE_EINVAL:
 * no such output, or which one is not clear. */
lathe_status sheet_add(struct sheet *sheet, const lathe_prediction *p);
/* The file is whole. */
lathe_status sheet_close(struct sheet *sheet);
void sheet_finish(struct sheet *sheet); /* what is not closed is removed */

#endif
