/* SPDX-License-Identifier: MIT */
/* When a plugin brings the process down. A session's ring tells who was called; the
 * report is three lines on stderr, and crash.txt in the run's directory where it
 * crashed, and the run is noted as failed. A build with sanitizers leaves crashes to
 * them. */
#ifndef HOST_COMMANDS_CRASH_H
#define HOST_COMMANDS_CRASH_H

#include <stdbool.h>
#include <stddef.h>

#include <lathe/session.h>

#define CRASH_LINE 320

/* From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT are reported, and end the
 * process with exit status 70. *session is read then: NULL where there is none. What
 * reads records at `records` gets an error record and an end record; -1: nobody
 * does. */
void crash_watch(lathe_session *const *session, int records);
/* Not any more: the session is closed. */
void crash_forget(void);
/* For atexit. An exit from below would end the program with any status, 0 too, and no
 * word: while somebody watches it is told like a crash, and its status is 70. (_exit
 * leaves no chance; a run that it ends reads as died.) */
void crash_refuse_exit(void);
/* The call in progress, "callbacks[1] chaos (chaos.so 1.0.0) in step_end at epoch 1
 * step 5 (thread 0)"; false: there is none. Safe in a signal handler. */
bool crash_in_progress(char line[CRASH_LINE]);

#endif
