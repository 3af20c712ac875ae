/* SPDX-License-Identifier: MIT */
/* What a run was made of, looked for before it is made again: plugins, data, the
 * checkpoint that it began from. Nothing is loaded. */
#ifndef HOST_COMMANDS_NEEDS_H
#define HOST_COMMANDS_NEEDS_H

#include "commands/compare.h"

/* What is there, and is not what it was, goes to *changed as {"what", "a", "b"}, the
 * caller's also after a failure. What is not there fails: LATHE_EMISSING,
 * LATHE_ENOTFOUND; another checkpoint is LATHE_EDATA. has_other_data: the paths of data
 * are others than the run's, so those are not looked at. */
lathe_status needs_find(const struct side *run, const char *const *plugin_paths,
                        bool has_other_data, struct json **changed, struct error *err);

#endif
