/* SPDX-License-Identifier: MIT */
/* Made for an ABI that does not exist yet. */
#define LATHE_ENTRY lathe_plugin_v2
#include "../callback.c"
