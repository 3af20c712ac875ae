/* SPDX-License-Identifier: MIT */
/* The manifest says callback, the library schedule. */
#define LATHE_ENTRY sound_entry
#include "../callback.c"

LATHE_EXPORT extern const lathe_plugin lathe_plugin_v1;
const lathe_plugin lathe_plugin_v1 = {sizeof(lathe_plugin), LATHE_KIND_SCHEDULE, 0, 0,
                                      &lathe_ops_};
