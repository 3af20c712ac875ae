/* SPDX-License-Identifier: MIT */
/* Plugins that stand where the one that is checked does not: data, a model, an
 * optimizer and a callback, linked in. */
#ifndef HOST_CHECK_STAND_INS_H
#define HOST_CHECK_STAND_INS_H

#include <lathe/session.h>

/* NULL-ended; static. */
const lathe_linked_plugin *const *stand_ins(void);

extern const lathe_plugin check_data_plugin, check_model_plugin, check_optimizer_plugin,
    check_callback_plugin;

#endif
