/* SPDX-License-Identifier: MIT */
/* Built with ABI 1.99 and content with 1.0: sound. */
#define LATHE_ENTRY sound_entry
#include "../callback.c"

LATHE_EXPORT extern const lathe_plugin lathe_plugin_v1;
const lathe_plugin lathe_plugin_v1 = {sizeof(lathe_plugin), LATHE_KIND_CALLBACK, 99, 0,
                                      &lathe_ops_};
