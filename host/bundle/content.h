/* SPDX-License-Identifier: MIT */
/* Does a bundle hold what its bundle.json says? Its experiment has to be made of the
 * plugins and the data of the bundle, and each plugin has to be what it is called. Not
 * here: whether files have the right digests (intake), and whether this machine has
 * what they need (machine). Everything is read and nothing is loaded, as by `inspect`.
 *
 *     content_open     makes a folder for the files that are looked at
 *     content_sink     for intake_files
 *     content_check    once all files were right
 */
#ifndef HOST_BUNDLE_CONTENT_H
#define HOST_BUNDLE_CONTENT_H

#include "bundle/intake.h"
#include "experiment.h"

struct content;

/* The folder is made where temporary files go. `bundle` is borrowed. LATHE_ECREATE,
 * LATHE_EIO. */
lathe_status content_open(const struct bundle *bundle, struct content **content,
                          struct error *err);
struct intake_sink content_sink(struct content *content);
/* Adds each fault that is found; its where is a file of the bundle, or a setting.
 * LATHE_EDATA: nobody can run it; LATHE_EMISSING: a plugin is refused. */
void content_check(struct content *content, struct errors *faults);
/* Of an experiment that was opened from `folder`, where the bundle is: every file that
 * it names has to be one of the bundle's, and each setting that bundle.json lists for a
 * file has to name that. What `overrides` (NULL-ended, or NULL) set is the user's own.
 * Adds each fault, LATHE_EDATA. */
void content_check_paths(const struct bundle *bundle, const char *folder,
                         const struct experiment *experiment,
                         const char *const *overrides, struct errors *faults);
void content_close(struct content *content); /* NULL is fine */

#endif
