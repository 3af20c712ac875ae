/* SPDX-License-Identifier: MIT */
/* What manifest.c, which reads, and manifest_check.c, which judges, share. */
#ifndef HOST_MANIFEST_PARTS_H
#define HOST_MANIFEST_PARTS_H

#include "manifest.h"

/* Text that a terminal shows as it is: no control characters. */
bool manifest_is_line(const char *text);
bool manifest_is_name(const char *text);    /* of a plugin */
bool manifest_is_library(const char *text); /* the plain name of a file */
/* LATHE_EINVAL with the first fault. */
lathe_status manifest_check(const struct manifest *manifest, const struct json *format,
                            struct error *err);

#endif
