/* SPDX-License-Identifier: MIT */
/* Text that grows, and JSON written onto it. After a failed allocation a text stays as
 * it is and `is_broken` is set: check once, at the end. */
#ifndef HOST_BASE_TEXT_H
#define HOST_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *data; /* ended by NUL once anything was added; NULL before */
    size_t length, capacity;
    bool is_broken;
};

void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const void *bytes, size_t count);
__attribute__((format(printf, 2, 3))) void text_format(struct text *text,
                                                       const char *format, ...);
/* A JSON string, quoted and escaped; bytes that are not UTF-8 become U+FFFD. NULL:
 * null. */
void text_json_string(struct text *text, const char *string);
/* %.17g, always in the C locale's spelling; NaN and infinities become null. */
void text_json_number(struct text *text, double number);
/* The same with as few digits as read back to the same number: 0.1, not
 * 0.10000000000000001; whole numbers below 2^53 as whole. For people and manifests. */
void text_json_shortest(struct text *text, double number);
void text_clear(struct text *text); /* keeps the memory */
void text_finish(struct text *text);

/* strdup and printf into fresh memory of the caller's; NULL: out of memory. */
char *text_copy(const char *string);
__attribute__((format(printf, 1, 2))) char *text_make(const char *format, ...);

/* Does it end with `end`, and have something before that? */
bool text_ends_with(const char *string, const char *end);
/* Bytes of the well-formed UTF-8 sequence that `bytes` begins with; 0: there is
 * none. */
size_t text_utf8(const char *bytes, size_t count);
/* In place: each control character and each byte that is not UTF-8 becomes '?'. */
void text_clean(char *string);
void text_clean_lines(char *string);    /* the same, but for newlines */
bool text_is_clean(const char *string); /* it would change nothing */
/* Reads a decimal number as JSON spells it, with '.' in every locale. *end comes to
 * point past it, at `string` when it is not one. Too large: infinity. */
double text_read_number(const char *string, const char **end);
/* "2.34", all of the string: the two numbers, each below 10,000. */
bool text_read_version(const char *string, unsigned version[2]);

#endif
