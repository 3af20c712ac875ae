/* SPDX-License-Identifier: MIT */
/* A bundle taken in, from anybody: its entries have to be those that bundle.json lists,
 * each once, in order, with the bytes that it says. Nothing is written here; who wants
 * the bytes gets them as they come, and must not use them before the whole was right.
 *
 *     intake_open      the raw bytes of bundle.json, and of its signature if it has
 * one:
 *                      whoever wants one checks it here, before anything is parsed
 *     intake_begin     what bundle.json says
 *     intake_files     every file, checked
 */
#ifndef HOST_BUNDLE_INTAKE_H
#define HOST_BUNDLE_INTAKE_H

#include "bundle/bundle.h"

struct intake;

/* LATHE_ENOTFOUND, LATHE_EIO; LATHE_EDATA: it is no bundle. */
lathe_status intake_open(const char *path, struct intake **intake, struct error *err);
/* Borrowed until close. *count 0: it is not signed. */
const char *intake_text(const struct intake *intake, size_t *count);
const char *intake_signature(const struct intake *intake, size_t *count);
/* Parses bundle.json. Borrowed until close. */
lathe_status intake_begin(struct intake *intake, const struct bundle **bundle,
                          struct error *err);

/* Who takes the files in. Each function may be NULL; a failure ends it all. */
struct intake_sink {
    void *context;
    lathe_status (*begin)(void *context, const struct bundle_file *file,
                          struct error *err);
    lathe_status (*add)(void *context, const void *bytes, size_t count,
                        struct error *err);
    lathe_status (*end)(void *context, struct error *err); /* its digest was right */
};

/* All files in turn, once. LATHE_EDATA: one is not as listed, or not listed, or
 * missing, or something follows. `sink` NULL: they are only checked. */
lathe_status intake_files(struct intake *intake, const struct intake_sink *sink,
                          struct error *err);
void intake_close(struct intake *intake); /* NULL is fine */

/* Does a file look like a bundle: its name ends in ".lathe", or it begins as zstd, gzip
 * or tar do? */
bool intake_is_bundle(const char *path);
/* What a file that can be no text begins like, for messages: "a PNG image", "binary
 * data". NULL: it may be text, or it is no regular file. */
const char *intake_guess(const char *path);

#endif
