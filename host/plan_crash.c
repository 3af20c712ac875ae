/* SPDX-License-Identifier: MIT */
/* What a handler of signals asks of a session. */
#include "plan.h"
#include "session_state.h"

bool plan_mend(const lathe_session *session, const void *address) {
    return files_mend(session->files, address);
}
