/* SPDX-License-Identifier: MIT */
#include "commands/backtrace.h"

#include <execinfo.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MAX 64

#if LATHE_BACKTRACE

#include <backtrace-lib.h>

struct writing {
    int fd, frames;
    char *first;
    size_t size;
};

/* snprintf is not for signal handlers. Cuts to fit. */
static void add(char *to, size_t size, const char *text) {
    size_t length = strlen(to), more = strlen(text);
    if (length + more >= size) more = size - length - 1;
    memcpy(to + length, text, more);
    to[length + more] = 0;
}

static void add_frame(char *to, size_t size, const char *file, const char *line,
                      const char *function) {
    add(to, size, file);
    add(to, size, ":");
    add(to, size, line);
    if (!function) return;
    add(to, size, " (");
    add(to, size, function);
    add(to, size, ")");
}

static struct backtrace_state *state; /* a signal handler gets no argument */

static void ignore(void *data, const char *message, int number) {
    (void)data, (void)message, (void)number;
}

static const char *decimal(int number, char digits[12]) {
    size_t at = 11;
    digits[at] = 0;
    do digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0 && at);
    return digits + at;
}

static int write_frame(void *data, uintptr_t pc, const char *file, int line,
                       const char *function) {
    struct writing *w = data;
    char digits[12], text[512] = "  ";
    void *address = (void *)pc;
    if (w->frames++ == FRAMES_MAX) return 1;
    if (!file) { /* the library, at least */
        if (w->fd >= 0 && pc && pc != UINTPTR_MAX)
            (void)!write(w->fd, "  ", 2), backtrace_symbols_fd(&address, 1, w->fd);
        return 0;
    }
    add_frame(text, sizeof text - 1, file, decimal(line, digits), function);
    /* Not where the C library raises a signal, or calls its handler. */
    if (!w->first[0] && function && !strstr(file, "/sysdeps/"))
        add(w->first, w->size, text + 2);
    add(text, sizeof text, "\n");
    if (w->fd >= 0) (void)!write(w->fd, text, strlen(text));
    return 0;
}

void backtrace_begin(void) {
    if (!state) state = backtrace_create_state(NULL, 1, ignore, NULL);
}

/* The two innermost frames are the handler's. */
void backtrace_write(int fd, char *first, size_t size) {
    struct writing writing = {.fd = fd, .first = first, .size = size};
    first[0] = 0;
    if (state) backtrace_full(state, 2, write_frame, ignore, &writing);
}

#else

/* The first call loads the unwinder, which no handler may. */
void backtrace_begin(void) {
    void *frame;
    backtrace(&frame, 1);
}

void backtrace_write(int fd, char *first, size_t size) {
    void *frames[FRAMES_MAX];
    (void)size;
    first[0] = 0;
    if (fd >= 0) backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), fd);
}

#endif
