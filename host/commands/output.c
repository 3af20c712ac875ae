/* SPDX-License-Identifier: MIT */
#include "commands/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"

#define EXIT_CUT 141 /* what a shell says of a program that SIGPIPE has ended */

static FILE *kept; /* a process has one standard output */
static bool is_told;

void output_keep(void) {
    int fd = kept ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd < 0) return;
    fflush(stdout);
    kept = fdopen(fd, "w");
    if (kept)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    else
        close(fd);
}

FILE *output_file(void) {
    return kept ? kept : stdout;
}

void output_print(struct text *text, bool is_for_people) {
    if (is_for_people && text->data) text_clean_lines(text->data);
    if (text->data)
        fputs(text->data, output_file()); /* main looks whether it arrives */
}

bool output_is_cut(void) {
    struct pollfd pipe = {.fd = fileno(output_file()), .events = POLLOUT};
    return poll(&pipe, 1, 0) == 1 && pipe.revents & (POLLERR | POLLHUP);
}

void output_give_up(void) {
    is_told = true;
}

/* Who reads no further has all that was wanted, and needs no message. */
int output_finish(int code) {
    FILE *file = output_file();
    errno = 0;
    if ((!fflush(file) && !ferror(file)) || is_told) return code;
    const int number = errno;
    if (output_is_cut()) return code ? code : EXIT_CUT;
    struct error err = {0};
    fail(&err, LATHE_EIO, "cannot write to standard output%s%s", number ? ": " : "",
         number ? strerror(number) : "");
    if (code != error_exit_code(LATHE_EIO)) command_print_error(&err);
    return error_exit_code(LATHE_EIO);
}
