/* SPDX-License-Identifier: MIT */
/* What an experiment uses: its plugins, and the files that its options name. Only the
 * experiment is looked at: no file is opened. */
#ifndef HOST_BUNDLE_USES_H
#define HOST_BUNDLE_USES_H

#include "experiment.h"

/* Calls `visit` for every plugin in use, those of stages and nested ones too. `stage`
 * is the beginning of its path, "stages.1.", or "". Stops at the first visit that does
 * not return LATHE_OK, and returns what that did. */
lathe_status uses_each(const struct experiment *experiment, void *context,
                       lathe_status (*visit)(void *context, const char *stage,
                                             const struct use *use));
/* The same for every option that is the path of a file ("data.train.file"), and for the
 * weights that the experiment starts from. The path may be changed through `value`.
 * LATHE_ENOMEM of its own. */
lathe_status uses_each_path(const struct experiment *experiment, void *context,
                            lathe_status (*visit)(void *context, const char *setting,
                                                  struct json *value));

#endif
