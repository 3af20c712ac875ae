/* SPDX-License-Identifier: MIT */
/* RFC 4180 as pure functions over bytes in memory: records, fields, numbers. Lenient
 * about LF for CRLF, a BOM and blank lines at the end; strict about quotes. It knows
 * nothing of columns and their meaning. */
#ifndef CSV_PARSE_H
#define CSV_PARSE_H

#include <stddef.h>
#include <stdint.h>

/* A slice of the file, without its outer quotes. */
struct csv_field {
    const char *bytes;
    uint32_t length;
    uint32_t has_escapes; /* some "" stand for one " */
};

struct csv_cursor {
    const char *at, *end;
    char delimiter;
    int64_t line;        /* where `at` is, from 1 */
    int64_t record_line; /* where the last record started */
    const char *fault;   /* what is wrong, after -1 */
};

/* A cursor at the first record, past a BOM. */
struct csv_cursor csv_begin(const char *bytes, int64_t count, char delimiter);
/* Reads the next record: returns how many fields it has and puts the first `capacity`
 * of them into fields. 0 at the end; -1 with cursor->fault, at cursor->line, for what
 * is no CSV. */
int64_t csv_next(struct csv_cursor *cursor, struct csv_field *fields, int64_t capacity);

/* The content, escapes undone, ended by NUL and cut to `size`; returns its length. */
size_t csv_text(const struct csv_field *field, char *text, size_t size);
/* The contents, one a line, whose own line breaks become blanks; the caller's to free.
 * NULL: out of memory. */
char *csv_join(const struct csv_field *fields, int64_t count);
/* Orders by the bytes of the content, as memcmp does. */
int csv_compare(const struct csv_field *a, const struct csv_field *b);

enum csv_number {
    CSV_NUMBER = 0,
    CSV_NOT_A_NUMBER, /* "abc", "0x1f", "1,5" */
    CSV_MISSING,      /* empty, or a spelling of NaN */
    CSV_INFINITE,     /* a spelling of infinity, or too large for a float */
};
/* A decimal number, blanks around it allowed, the same in every locale. */
enum csv_number csv_read_number(const struct csv_field *field, float *number);

/* How far a name is from another: letters to change, insert, leave out. */
size_t csv_distance(const char *a, const char *b);

#endif
