/* SPDX-License-Identifier: MIT */
/* The file that --trace names. */
#ifndef HOST_COMMANDS_TRACE_H
#define HOST_COMMANDS_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct trace {
    const char *path; /* NULL: nobody wants one */
    FILE *file;
    int number; /* errno of the first write that failed */
};

/* Makes the file, or empties it. LATHE_ECREATE. */
lathe_status trace_open(struct trace *trace, struct error *err);
/* Adds a line. False: it failed, or did before. */
bool trace_add(struct trace *trace, const char *line);
/* LATHE_EIO: not all of it was written. */
lathe_status trace_close(struct trace *trace, struct error *err);

#endif
