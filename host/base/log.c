/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

#define LINE_BYTES 1024

void log_line(struct log *log, int32_t level, const char *format, ...) {
    if (!log || !log->write) return;
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    size_t length = strlen(line);
    while (length && line[length - 1] == '\n') line[--length] = '\0';
    text_clean(line);
    while (__atomic_exchange_n(&log->lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
    log->write(log->context, level, line);
    __atomic_store_n(&log->lock, 0, __ATOMIC_RELEASE);
}
