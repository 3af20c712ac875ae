/* SPDX-License-Identifier: MIT */
/* What kind of file is it? A guess by its first bytes, for choosing how to open a file
 * and for messages. Whether it is sound is found by whoever reads it. */
#ifndef HOST_BUNDLE_MAGIC_H
#define HOST_BUNDLE_MAGIC_H

#include <stdbool.h>

/* Does it begin as zstd, gzip or tar do? */
bool magic_is_archive(const char *path);
/* The same, or its name ends in ".lathe". The text of an experiment, which begins with
 * '{', is none. */
bool magic_is_bundle(const char *word);
/* "a PNG image", "binary data". NULL: it may be text, or it is no regular file. */
const char *magic_name(const char *path);

#endif
