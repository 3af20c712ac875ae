/* SPDX-License-Identifier: MIT */
/* What an experiment uses: its plugins, and the files that its options name. Nothing is
 * opened. */
#ifndef HOST_BUNDLE_USES_H
#define HOST_BUNDLE_USES_H

#include "experiment.h"

/* Calls `visit` for every plugin in use, stages and nested ones included; `stage`: "",
 * or what stands before its path. Ends with what a visit that is not LATHE_OK gives. */
lathe_status uses_each(const struct experiment *experiment, void *context,
                       lathe_status (*visit)(void *context, const char *stage,
                                             const struct use *use));
/* The same for every option that is the path of a file, and for the weights that it
 * starts from: "data.train.file". The text may be changed through `value`. LATHE_ENOMEM
 * of its own. */
lathe_status uses_each_path(const struct experiment *experiment, void *context,
                            lathe_status (*visit)(void *context, const char *setting,
                                                  struct json *value));

#endif
