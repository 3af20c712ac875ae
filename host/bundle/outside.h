/* SPDX-License-Identifier: MIT */
/* Data that a bundle names by its digest and does not hold, found in folders that
 * somebody gives. Only what has the right digest is found. */
#ifndef HOST_BUNDLE_OUTSIDE_H
#define HOST_BUNDLE_OUTSIDE_H

#include "bundle/bundle.h"

/* Looks in the folders (NULL-ended or NULL) for the name, then for files of the size,
 * also three folders down. *path is the caller's, absolute. LATHE_ENOTFOUND, which asks
 * for it by name; LATHE_EDATA: a file of that name has other bytes, and none has the
 * right ones. */
lathe_status outside_find(const struct bundle_file *file, const char *const *folders,
                          char **path, struct error *err);

#endif
