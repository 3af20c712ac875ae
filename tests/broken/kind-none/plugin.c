/* SPDX-License-Identifier: MIT */
/* Kind 0 is never valid. */
#define LATHE_ENTRY sound_entry
#include "../callback.c"

LATHE_EXPORT extern const lathe_plugin lathe_plugin_v1;
const lathe_plugin lathe_plugin_v1 = {sizeof(lathe_plugin), LATHE_KIND_NONE, 0, 0,
                                      &lathe_ops_};
