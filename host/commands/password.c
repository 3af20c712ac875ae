/* SPDX-License-Identifier: MIT */
#include "commands/password.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define INTERRUPT 3 /* Ctrl-C, Ctrl-D, and two keys that take a letter back */
#define END 4
#define BACKSPACE 8
#define DELETE 127

static lathe_status tell_long(size_t size, struct error *err) {
    return fail(err, LATHE_EPERM, "a password has at most %zu bytes", size - 1);
}

/* Byte by byte: what follows the line may be somebody else's to read. */
static lathe_status read_line(int fd, char *password, size_t size, struct error *err) {
    size_t length = 0;
    for (;;) {
        char byte;
        ssize_t got = read(fd, &byte, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(err, LATHE_EIO, "cannot read it: %s", strerror(errno));
        if (got == 0 || byte == '\n') break;
        if (length + 1 == size) return tell_long(size, err);
        password[length++] = byte;
    }
    if (length && password[length - 1] == '\r') length--;
    password[length] = '\0';
    return LATHE_OK;
}

static lathe_status read_file(const char *path, char *password, size_t size,
                              struct error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    lathe_status status =
        fd < 0 ? fail(err, error_from_errno(errno), "cannot open \"%.300s\": %s", path,
                      strerror(errno))
               : read_line(fd, password, size, err);
    if (fd >= 0) close(fd);
    if (status) error_where(err, PASSWORD_FILE);
    return status;
}

/* *length: of what is there so far. LATHE_END: the line is over. */
static lathe_status take(char byte, char *password, size_t *length, size_t size,
                         struct error *err) {
    if (byte == '\n' || byte == '\r') return LATHE_END;
    if (byte == INTERRUPT || (byte == END && !*length))
        return fail(err, LATHE_EPERM, "no password was given");
    if (byte == BACKSPACE || byte == DELETE) {
        if (*length) --*length;
        return LATHE_OK;
    }
    if (*length + 1 == size) return tell_long(size, err);
    password[(*length)++] = byte;
    return LATHE_OK;
}

/* Keys come one by one and raise no signal, so that none leaves the terminal mute; it
 * is before it asks. */
static lathe_status read_terminal(int fd, const char *key, char *password, size_t size,
                                  struct error *err) {
    struct termios before, mute;
    size_t length = 0;
    lathe_status status = LATHE_OK;
    if (tcgetattr(fd, &before))
        return fail(err, LATHE_EPERM, "the terminal cannot be made mute: %s",
                    strerror(errno));
    mute = before;
    mute.c_lflag &= ~(tcflag_t)(ECHO | ICANON | ISIG);
    tcsetattr(fd, TCSAFLUSH, &mute);
    dprintf(fd, "Password of %s: ", key);
    while (!status) {
        char byte;
        ssize_t got = read(fd, &byte, 1);
        if (got < 0 && errno == EINTR) continue;
        status = got == 1 ? take(byte, password, &length, size, err)
                          : fail(err, LATHE_EPERM, "no password was given");
    }
    dprintf(fd, "\n");
    tcsetattr(fd, TCSAFLUSH, &before);
    password[length] = '\0';
    return status == LATHE_END ? LATHE_OK : status;
}

lathe_status password_ask(void *key, char *password, size_t size, struct error *err) {
    const char *file = getenv(PASSWORD_FILE);
    if (file && *file) return read_file(file, password, size, err);
    const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (terminal < 0) {
        fail(err, LATHE_EPERM,
             "the key has a password, and there is no terminal to "
             "ask for it");
        error_help(err,
                   "name a file whose first line it is: " PASSWORD_FILE "=/dev/fd/3");
        return LATHE_EPERM;
    }
    lathe_status status = read_terminal(terminal, key, password, size, err);
    close(terminal);
    return status;
}
