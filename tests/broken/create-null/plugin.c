/* SPDX-License-Identifier: MIT */
/* Nothing to make an instance with. */
#include <lathe/callback.h>

LATHE_CALLBACK(.create = NULL);
