/* SPDX-License-Identifier: MIT */
/* What plan_describe puts together: each is the caller's, as plan.h spells it; NULL:
 * out of memory. */
#ifndef HOST_PLAN_PARTS_H
#define HOST_PLAN_PARTS_H

#include "plan.h"
#include "session_calls.h"

struct json *plan_plugins(lathe_session *s);
struct json *plan_values(const lathe_session *s);
struct json *plan_data(const lathe_session *s);
struct json *plan_loop(const lathe_session *s);
struct json *plan_slices(const lathe_session *s);
struct json *plan_prefetch(const lathe_session *s);
struct json *plan_rate(lathe_session *s);
struct json *plan_parameters(const lathe_session *s);
struct json *plan_memory(const lathe_session *s);
int64_t plan_checkpoint_bytes(const lathe_session *s);

#endif
