/* SPDX-License-Identifier: MIT */
/* Signals, for the one session that a process turns: SIGINT, SIGTERM, SIGHUP and the
 * time limit end it at the next boundary, SIGUSR1 saves it there. A second SIGINT ends
 * the process at once. */
#ifndef HOST_COMMANDS_TURN_SIGNALS_H
#define HOST_COMMANDS_TURN_SIGNALS_H

#include <stdbool.h>

#include <lathe/session.h>

/* Where lathe_open is to put the session, for signals to find it from then on. */
lathe_session **turn_session_place(void);
/* The session, if there is one yet; on any thread. */
lathe_session *turn_session_now(void);
void turn_catch_signals(bool can_resume);   /* then a terminal is told how */
void turn_begin_time_limit(double seconds); /* 0: none */
/* Why a signal that came wants the run to end; NULL: none came. */
const char *turn_stop_reason(void);
/* The session is open. It is told of a signal that came before it could be. */
void turn_begin_signals(void);
void turn_end_signals(void); /* it is closed */

#endif
