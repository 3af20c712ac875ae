/* SPDX-License-Identifier: MIT */
/* Cannot do without ABI 1.99. */
#define LATHE_ENTRY sound_entry
#include "../callback.c"

LATHE_EXPORT extern const lathe_plugin lathe_plugin_v1;
const lathe_plugin lathe_plugin_v1 = {sizeof(lathe_plugin), LATHE_KIND_CALLBACK, 99, 99,
                                      &lathe_ops_};
