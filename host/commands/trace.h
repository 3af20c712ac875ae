/* SPDX-License-Identifier: MIT */
/* The file that --trace names. Nothing is written to it, nor is it made, before there
 * is a session to trace; and it takes the place of nothing but a trace. */
#ifndef HOST_COMMANDS_TRACE_H
#define HOST_COMMANDS_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct trace {
    const char *path; /* NULL: nobody wants one */
    /* trace.c's own */
    FILE *file;
    int fd;          /* until trace_begin; below 1: there is no file yet */
    bool is_regular; /* … and it is another trace, which is emptied then */
    int number;      /* errno of the first write that failed */
};

/* May it be written? In none of the `kept` directories (some may be NULL), and over
 * nothing but a trace or what is empty. A pipe or device is opened. LATHE_ECREATE,
 * LATHE_EPERM. */
lathe_status trace_open(struct trace *trace, const char *const *kept, size_t count,
                        struct error *err);
/* Makes the file, or empties it. False: trace_close says why not. */
bool trace_begin(struct trace *trace);
/* Adds a line. False: it failed, or did before. */
bool trace_add(struct trace *trace, const char *line);
/* LATHE_EIO: not all of it was written. */
lathe_status trace_close(struct trace *trace, struct error *err);

#endif
