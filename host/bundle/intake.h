/* SPDX-License-Identifier: MIT */
/* Reads a bundle that may come from anybody. Its entries have to be those that
 * bundle.json lists: each once, in order, with the listed bytes. Nothing is written
 * here. A sink gets the bytes as they come, and must not use them before intake_files
 * has returned LATHE_OK.
 *
 *     intake_open      the raw bytes of bundle.json, and of its signature if there is
 *                      one: check it here, before anything is parsed
 *     intake_begin     what bundle.json says
 *     intake_files     every file, checked
 */
#ifndef HOST_BUNDLE_INTAKE_H
#define HOST_BUNDLE_INTAKE_H

#include "bundle/bundle.h"

struct intake;

/* LATHE_ENOTFOUND, LATHE_EIO; LATHE_EDATA: it is no bundle. */
lathe_status intake_open(const char *path, struct intake **intake, struct error *err);
/* Borrowed until close. */
const char *intake_text(const struct intake *intake, size_t *count);
/* NULL: it is not signed. Borrowed until close. */
const char *intake_signature(const struct intake *intake, size_t *count);
/* Parses bundle.json. Borrowed until close. */
lathe_status intake_begin(struct intake *intake, const struct bundle **bundle,
                          struct error *err);

/* Where the files go. Each function may be NULL; a failure of one ends the reading. */
struct intake_sink {
    void *context;
    lathe_status (*begin)(void *context, const struct bundle_file *file,
                          struct error *err);
    lathe_status (*add)(void *context, const void *bytes, size_t count,
                        struct error *err);
    lathe_status (*end)(void *context, struct error *err); /* its digest was right */
};

/* All files in turn; call it once. LATHE_EDATA: a file is not as listed, not listed, or
 * missing, or something follows the last. `sink` NULL: the files are only checked. */
lathe_status intake_files(struct intake *intake, const struct intake_sink *sink,
                          struct error *err);
void intake_close(struct intake *intake); /* NULL is fine */

#endif
