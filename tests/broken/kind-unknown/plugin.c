/* SPDX-License-Identifier: MIT */
/* A kind that may come one day. */
#define LATHE_ENTRY sound_entry
#include "../callback.c"

LATHE_EXPORT extern const lathe_plugin lathe_plugin_v1;
const lathe_plugin lathe_plugin_v1 = {sizeof(lathe_plugin), 77, 0, 0, &lathe_ops_};
