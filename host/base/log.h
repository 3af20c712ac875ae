/* SPDX-License-Identifier: MIT */
/* Lines for people. A log is a value that is handed down, never a global; lines may
 * come from several threads at once. */
#ifndef HOST_BASE_LOG_H
#define HOST_BASE_LOG_H

#include <stdarg.h>
#include <stdint.h>

#include <lathe/host.h> /* LATHE_LOG_* */

struct log {
    /* Gets each finished line, without a newline, one at a time; NULL: lines are
     * lost. */
    void (*write)(void *context, int32_t level, const char *text);
    void *context;
    int lock; /* a spin lock: lines are short and rare */
};

__attribute__((format(printf, 3, 4))) void log_line(struct log *log, int32_t level,
                                                    const char *format, ...);

#endif
