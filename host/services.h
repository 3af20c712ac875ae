/* SPDX-License-Identifier: MIT */
/* The host table: services.c answers what plugins ask while they are made,
 * services_loop.c what they ask during the run. Every service knows its caller from the
 * table's context. */
#ifndef HOST_SERVICES_H
#define HOST_SERVICES_H

#include "session_state.h"

struct plugin *services_caller(const lathe_host *host);
lathe_session *services_session(const lathe_host *host);
/* Is the service called when its tag allows it? If not, the caller is failed. */
bool services_may_load(const lathe_host *host, const char *service);
bool services_may_loop(const lathe_host *host, const char *service);
void services_fill_loop(lathe_host *host);
const void *services_checkpoints(void); /* the table of LATHE_CHECKPOINTS */

#endif
