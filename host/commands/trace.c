/* SPDX-License-Identifier: MIT */
#include "commands/trace.h"

#include <errno.h>
#include <string.h>

lathe_status trace_open(struct trace *trace, struct error *err) {
    if (!trace->path) return LATHE_OK;
    trace->file = fopen(trace->path, "we");
    if (trace->file) return LATHE_OK;
    fail(err, LATHE_ECREATE, "cannot make the trace: %s", strerror(errno));
    error_where(err, "%s", trace->path);
    return LATHE_ECREATE;
}

bool trace_add(struct trace *trace, const char *line) {
    errno = 0;
    if (!trace->number && fprintf(trace->file, "%s\n", line) < 0)
        trace->number = errno ? errno : EIO;
    return !trace->number;
}

lathe_status trace_close(struct trace *trace, struct error *err) {
    if (!trace->file) return LATHE_OK;
    errno = 0;
    if (fclose(trace->file) && !trace->number) trace->number = errno ? errno : EIO;
    trace->file = NULL;
    if (!trace->number) return LATHE_OK;
    fail(err, LATHE_EIO, "cannot write the trace: %s", strerror(trace->number));
    error_where(err, "%s", trace->path);
    return LATHE_EIO;
}
