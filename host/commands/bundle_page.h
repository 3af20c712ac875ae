/* SPDX-License-Identifier: MIT */
/* What is in a bundle, for people and as JSON. All of it is read and compared with its
 * digests first; nothing of it is run, and nothing is unpacked. */
#ifndef HOST_COMMANDS_BUNDLE_PAGE_H
#define HOST_COMMANDS_BUNDLE_PAGE_H

#include "bundle/bundle.h"

/* `inspect` of a bundle. LATHE_EDATA: it is damaged. */
lathe_status bundle_page_print(const char *path, int is_json, struct error *err);
/* "path  size  SHA-256", a line each, under a title; nothing for none. */
void bundle_page_add_files(const char *title, const struct bundle_file *files,
                           size_t count, struct text *text);

#endif
