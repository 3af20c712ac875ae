/* SPDX-License-Identifier: MIT */
/* Saved state as bytes. */
#ifndef HOST_CHECK_STATE_H
#define HOST_CHECK_STATE_H

#include "check/fixture.h"

/* Appends what the instance saves. */
bool state_save(struct fixture *fixture, struct plugin *plugin, struct text *bytes);
/* What `load` returned for these bytes. */
lathe_status state_load(struct fixture *fixture, struct plugin *plugin,
                        const void *bytes, size_t count);

#endif
