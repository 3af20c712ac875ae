/* SPDX-License-Identifier: MIT */
/* Smaller than the entry of ABI 1.0. */
#define LATHE_ENTRY sound_entry
#include "../callback.c"

LATHE_EXPORT extern const lathe_plugin lathe_plugin_v1;
const lathe_plugin lathe_plugin_v1 = {LATHE_PLUGIN_SIZE_1_0 - 8, LATHE_KIND_CALLBACK, 0,
                                      0, &lathe_ops_};
