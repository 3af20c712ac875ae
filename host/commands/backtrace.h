/* SPDX-License-Identifier: MIT */
/* Where a signal came from, frame by frame: with file and line where libbacktrace was
 * there to build with, else as addresses. */
#ifndef HOST_COMMANDS_BACKTRACE_H
#define HOST_COMMANDS_BACKTRACE_H

#include <stddef.h>

/* Ahead of any signal. */
void backtrace_begin(void);
/* In a signal handler: writes the frames to a descriptor, below 0: nowhere. `first`
 * gets the innermost with a file and line, "chaos.c:67 (act)"; "" if there is none. */
void backtrace_write(int fd, char *first, size_t size);

#endif
