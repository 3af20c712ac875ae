/* SPDX-License-Identifier: MIT */
/* Is in a bundle what its bundle.json says: an experiment that can be made of the
 * plugins and the data that are there, and plugins that are what they are called? That
 * its files have the right digests is intake's; whether this machine has what they need
 * of it is machine's. Everything is read and nothing is loaded, as by `inspect`.
 *
 *     content_open     a folder for what has to be looked at
 *     content_sink     for intake_files
 *     content_check    once all files were right
 */
#ifndef HOST_BUNDLE_CONTENT_H
#define HOST_BUNDLE_CONTENT_H

#include "bundle/intake.h"

struct content;

/* Where temporary files go; the bundle is borrowed. LATHE_ECREATE, LATHE_EIO. */
lathe_status content_open(const struct bundle *bundle, struct content **content,
                          struct error *err);
struct intake_sink content_sink(struct content *content);
/* Adds each fault that is found, where being a file of the bundle or a setting:
 * LATHE_EDATA for what nobody can run, LATHE_EMISSING for a plugin that is refused. */
void content_check(struct content *content, struct errors *faults);
void content_close(struct content *content); /* NULL is fine */

#endif
