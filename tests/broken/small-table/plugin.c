/* SPDX-License-Identifier: MIT */
/* One function less than ABI 1.0 had. */
#define LATHE_ENTRY sound_entry
#include "../callback.c"

static const lathe_callback_ops small = {.size = LATHE_CALLBACK_OPS_SIZE_1_0 - 8,
                                         .create = make};
LATHE_EXPORT extern const lathe_plugin lathe_plugin_v1;
const lathe_plugin lathe_plugin_v1 = {sizeof(lathe_plugin), LATHE_KIND_CALLBACK, 0, 0,
                                      &small};
