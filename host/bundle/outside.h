/* SPDX-License-Identifier: MIT */
/* Finds data that a bundle names by its digest and does not hold, in folders that
 * somebody gives. A file with another digest is never taken. */
#ifndef HOST_BUNDLE_OUTSIDE_H
#define HOST_BUNDLE_OUTSIDE_H

#include "bundle/bundle.h"

/* Are the folders (NULL-ended or NULL) there? LATHE_ENOTFOUND, LATHE_EPERM. */
lathe_status outside_check_folders(const char *const *folders, struct error *err);
/* Looks in the folders (NULL-ended or NULL): first for the name, then for files of the
 * size, down to three folders deep. *path is the caller's, absolute. LATHE_ENOTFOUND,
 * and the help asks for the file; LATHE_EDATA: there is only one of that name that has
 * other bytes. */
lathe_status outside_find(const struct bundle_file *file, const char *const *folders,
                          char **path, struct error *err);

#endif
