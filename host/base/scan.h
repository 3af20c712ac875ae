/* SPDX-License-Identifier: MIT */
/* The tokens of JSON and what can be wrong with one, for syntax.c, which knows how they
 * follow each other. Every function that fails notes the place and tells the fault. */
#ifndef HOST_BASE_SCAN_H
#define HOST_BASE_SCAN_H

#include <stddef.h>

#include "error.h"

#define SCAN_DEPTH_MAX 64
#define SCAN_NUMBER_MAX 512 /* characters */

struct scan {
    const char *bytes, *at, *end;
    const char *fault;                  /* where it is, once there is one */
    const char *opened[SCAN_DEPTH_MAX]; /* the brackets that are open */
    size_t depth;
    struct error *err;
};

int scan_peek(const struct scan *scan); /* the next byte; -1 at the end */
void scan_space(struct scan *scan);
lathe_status scan_string(struct scan *scan); /* at a quote */
lathe_status scan_number(struct scan *scan); /* at a digit or '-' */
lathe_status scan_word(struct scan *scan);   /* true, false, null */

/* The next character does not belong; `wanted` is what does. */
lathe_status scan_unexpected(struct scan *scan, const char *wanted);
/* Copies the run of letters, digits, '.', '+', '-' at `from`; returns its full
 * length. */
size_t scan_copy_word(const struct scan *scan, const char *from, char *word,
                      size_t room);
/* Notes where a fault is, and hands on the status of the fail() that told it. */
lathe_status scan_fault(struct scan *scan, const char *place, lathe_status status);
/* Line and column (in characters) of a byte, both from 1. */
void scan_place(const char *bytes, size_t offset, size_t *line, size_t *column);

#endif
