/* SPDX-License-Identifier: MIT */
/* What is in a bundle, for people and as JSON. All of it is read and compared with its
 * digests first; nothing of it is run, and nothing is unpacked. */
#ifndef HOST_COMMANDS_BUNDLE_PAGE_H
#define HOST_COMMANDS_BUNDLE_PAGE_H

#include "base/error.h"

/* `inspect` of a bundle. LATHE_EDATA: it is damaged. */
lathe_status bundle_page_print(const char *path, int is_json, struct error *err);

#endif
