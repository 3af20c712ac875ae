/* SPDX-License-Identifier: MIT */
/* A library loaded for the first time, in a process of its own that may crash, hang or
 * exit: the program starts itself again, with a word in place of a command. What a
 * library does in its constructors is all that is tried; of its functions none is
 * called. */
#ifndef HOST_COMMANDS_TRIAL_H
#define HOST_COMMANDS_TRIAL_H

#include <lathe/session.h>

/* In argv[1]: this process is a trial. */
#define TRIAL_WORD "--try-library"

/* lathe_session_options.try_library. LATHE_EPLUGIN: the library crashed, ended the
 * process, printed on standard output or took longer than ten seconds. */
lathe_status trial_run(void *context, const char *library, lathe_error *error);
/* The trial itself; does not return but for a wrong command line. */
int trial_serve(int argc, char **argv);

#endif
