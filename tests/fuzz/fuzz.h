/* SPDX-License-Identifier: MIT */
/* What the targets share. A target is one file with one LLVMFuzzerTestOneInput: it
 * takes any bytes, and returns whatever they are. What must never be makes it stop:
 * FUZZ_CHECK, or a sanitizer. libFuzzer calls it (./dev fuzz), or replay.c does, in
 * every test run. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

#define FUZZ_CHECK(condition)                                                          \
    ((condition) ? (void)0 : fuzz_stop(__FILE__, __LINE__, #condition, ""))
/* The same with what was found. */
#define FUZZ_CHECK_FOUND(condition, found)                                             \
    ((condition) ? (void)0 : fuzz_stop(__FILE__, __LINE__, #condition, found))

static inline void fuzz_stop(const char *file, int line, const char *what,
                             const char *found) {
    fprintf(stderr, "%s:%d: not so: %s %s\n", file, line, what, found);
    abort();
}

/* The bytes as text, which ends at their first NUL; the caller's. */
static inline char *fuzz_text(const void *bytes, size_t count) {
    char *text = malloc(count + 1);
    FUZZ_CHECK(text);
    if (count) memcpy(text, bytes, count);
    text[count] = '\0';
    return text;
}

/* One line of UTF-8 without control characters. */
static inline int fuzz_is_line(const char *text) {
    size_t left = strlen(text);
    while (left) {
        size_t length = text_utf8(text, left);
        if (!length || (unsigned char)*text < ' ' || *text == 0x7f) return 0;
        text += length;
        left -= length;
    }
    return 1;
}

/* A failure has one of the codes, and says why on one line each. */
static inline void fuzz_check_error(const struct error *err) {
    FUZZ_CHECK(err->status < 0 && err->status >= LATHE_EGATE);
    FUZZ_CHECK(err->what[0]);
    FUZZ_CHECK_FOUND(fuzz_is_line(err->what), err->what);
    FUZZ_CHECK_FOUND(fuzz_is_line(err->where), err->where);
    FUZZ_CHECK_FOUND(fuzz_is_line(err->help), err->help);
}

/* An open file in memory that holds the bytes, the same one each time; `path` opens
 * it again, until the next call. */
static inline int fuzz_file(const void *bytes, size_t count, char path[40]) {
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        FUZZ_CHECK(fd >= 0 && !fchmod(fd, 0600));
    }
    FUZZ_CHECK(!ftruncate(fd, 0));
    FUZZ_CHECK(pwrite(fd, bytes, count, 0) == (ssize_t)count);
    FUZZ_CHECK(lseek(fd, 0, SEEK_SET) == 0);
    snprintf(path, 40, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
