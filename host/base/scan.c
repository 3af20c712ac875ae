/* SPDX-License-Identifier: MIT */
#include "scan.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* Notes where the fault is; the text is told by the fail() that is passed on. */
lathe_status scan_fault(struct scan *scan, const char *place, lathe_status status) {
    scan->fault = place;
    return status;
}

int scan_peek(const struct scan *scan) {
    return scan->at < scan->end ? (unsigned char)*scan->at : -1;
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

static bool is_wordly(int c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '_' || c == '.' || c == '+' || c == '-';
}

void scan_space(struct scan *scan) {
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t' ||
                                    *scan->at == '\r' || *scan->at == '\n'))
        scan->at++;
}

/* Copies the run of letters, digits, '.', '+', '-' at `from`; returns its full
 * length. */
size_t scan_copy_word(const struct scan *scan, const char *from, char *word,
                      size_t room) {
    size_t length = 0;
    while (from + length < scan->end && is_wordly((unsigned char)from[length]))
        length++;
    snprintf(word, room, "%.*s", (int)(length < room ? length : room - 1), from);
    return length;
}

/* The fault of a text that ends too early. */
static lathe_status fail_at_end(struct scan *scan) {
    if (scan->depth == 0)
        return scan_fault(
            scan, scan->at,
            fail(scan->err, LATHE_EINVAL, "the text ends where a value belongs"));
    const char *opened = scan->opened[scan->depth - 1];
    size_t line, column;
    scan_place(scan->bytes, (size_t)(opened - scan->bytes), &line, &column);
    fail(scan->err, LATHE_EINVAL,
         "the text ends, but the '%c' of line %zu is still open", *opened, line);
    error_help(scan->err, "close it with '%c'", *opened == '{' ? '}' : ']');
    return scan_fault(scan, scan->at, LATHE_EINVAL);
}

/* The fault of a character that does not belong; `wanted` is what does. */
lathe_status scan_unexpected(struct scan *scan, const char *wanted) {
    int c = scan_peek(scan);
    struct error *err = scan->err;
    if (c < 0) return fail_at_end(scan);
    size_t length = text_utf8(scan->at, (size_t)(scan->end - scan->at));
    if (c == '/' || c == '#') {
        fail(err, LATHE_EINVAL, "a comment: JSON has none");
        error_help(err, "remove it");
    } else if (c == '\'') {
        fail(err, LATHE_EINVAL, "a single quote: %s was expected", wanted);
        error_help(err, "text goes in double quotes: \"like this\"");
    } else if (length == 0) {
        fail(err, LATHE_EINVAL, "the byte 0x%02x is not UTF-8", (unsigned)c);
        error_help(err, "save the file as UTF-8");
    } else if (c < 0x20 || c == 0x7f) {
        fail(err, LATHE_EINVAL, "a control character (0x%02x): %s was expected",
             (unsigned)c, wanted);
    } else {
        fail(err, LATHE_EINVAL, "found '%.*s' where %s was expected", (int)length,
             scan->at, wanted);
    }
    return scan_fault(scan, scan->at, LATHE_EINVAL);
}

/* ---- strings ---- */

/* The four digits of \uXXXX at `from`, which points at the 'u'; -1 when they are
 * not. */
static int32_t read_hex(const struct scan *scan, const char *from) {
    if (scan->end - from < 5) return -1;
    int32_t value = 0;
    for (int i = 1; i <= 4; i++) {
        int c = (unsigned char)from[i];
        int digit = is_digit(c)            ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

static lathe_status scan_unicode(struct scan *scan) {
    const char *start = scan->at - 1; /* the backslash */
    int32_t code = read_hex(scan, scan->at);
    if (code < 0) {
        fail(scan->err, LATHE_EINVAL, "\\u without four hexadecimal digits");
        error_help(scan->err, "a backslash itself is written \\\\");
        return scan_fault(scan, start, LATHE_EINVAL);
    }
    if (code == 0) {
        fail(scan->err, LATHE_EINVAL, "\\u0000: a string cannot hold a NUL character");
        return scan_fault(scan, start, LATHE_EINVAL);
    }
    scan->at += 5;
    if (code < 0xd800 || code > 0xdfff) return LATHE_OK;
    int32_t low = -1;
    if (code < 0xdc00 && scan->end - scan->at >= 6 && memcmp(scan->at, "\\u", 2) == 0)
        low = read_hex(scan, scan->at + 1);
    if (low < 0xdc00 || low > 0xdfff) {
        fail(scan->err, LATHE_EINVAL, "\\u%04x is half of a surrogate pair",
             (unsigned)code);
        error_help(scan->err,
                   "write the character itself, or both halves: \\ud83d\\ude00");
        return scan_fault(scan, start, LATHE_EINVAL);
    }
    scan->at += 6;
    return LATHE_OK;
}

static lathe_status scan_escape(struct scan *scan) {
    const char *start = scan->at++;
    int c = scan_peek(scan);
    if (c == 'u') return scan_unicode(scan);
    if (c > 0 && strchr("\"\\/bfnrt", c)) {
        scan->at++;
        return LATHE_OK;
    }
    size_t length = text_utf8(scan->at, (size_t)(scan->end - scan->at));
    if (length == 0 || c < 0x20)
        fail(scan->err, LATHE_EINVAL, "a lone backslash in a string");
    else
        fail(scan->err, LATHE_EINVAL, "\\%.*s is not an escape of JSON", (int)length,
             scan->at);
    error_help(scan->err, "a backslash itself is written \\\\");
    return scan_fault(scan, start, LATHE_EINVAL);
}

static lathe_status fail_control(struct scan *scan, int c) {
    if (c == '\n' || c == '\r') {
        fail(scan->err, LATHE_EINVAL, "the line ends inside a string");
        error_help(scan->err,
                   "close the string with '\"'; a line break is written \\n");
    } else if (c == '\t') {
        fail(scan->err, LATHE_EINVAL, "a raw tab inside a string");
        error_help(scan->err, "write it as \\t");
    } else {
        fail(scan->err, LATHE_EINVAL,
             "a raw control character (0x%02x) inside a string", (unsigned)c);
        error_help(scan->err, "write it as \\u%04x, or remove it", (unsigned)c);
    }
    return scan_fault(scan, scan->at, LATHE_EINVAL);
}

lathe_status scan_string(struct scan *scan) {
    const char *start = scan->at++;
    for (;;) {
        int c = scan_peek(scan);
        if (c < 0) {
            fail(scan->err, LATHE_EINVAL, "the text ends inside a string");
            error_help(scan->err, "close the string with '\"'");
            return scan_fault(scan, start, LATHE_EINVAL);
        }
        if (c < 0x20) return fail_control(scan, c);
        if (c == '\\') {
            lathe_status status = scan_escape(scan);
            if (status) return status;
            continue;
        }
        size_t length = text_utf8(scan->at, (size_t)(scan->end - scan->at));
        if (length == 0) return scan_unexpected(scan, "text");
        scan->at += length;
        if (c == '"') return LATHE_OK;
    }
}

/* ---- numbers and words ---- */

static const char *skip_digits(const struct scan *scan, const char *from) {
    while (from < scan->end && is_digit((unsigned char)*from)) from++;
    return from;
}

/* A word that is no value. */
static lathe_status fail_word(struct scan *scan) {
    char word[64];
    scan_copy_word(scan, scan->at, word, sizeof word);
    if (!word[0] || !strcmp(word, "-")) return scan_unexpected(scan, "a value");
    static const char *const unbounded[] = {"nan", "inf", "infinity"};
    static const char *const meant[][2] = {
        {"true", "true"}, {"false", "false"}, {"null", "null"},     {"none", "null"},
        {"yes", "true"},  {"no", "false"},    {"undefined", "null"}};
    struct error *err = scan->err;
    const char *bare = word + (word[0] == '-' || word[0] == '+');
    for (size_t i = 0; i < sizeof unbounded / sizeof *unbounded; i++)
        if (strcasecmp(bare, unbounded[i]) == 0) {
            fail(err, LATHE_EINVAL, "%s: numbers of JSON are finite", word);
            return scan_fault(scan, scan->at, LATHE_EINVAL);
        }
    fail(err, LATHE_EINVAL, "%s is not a value of JSON", word);
    error_help(err, "text goes in double quotes: \"%s\"", word);
    if (bare[strspn(bare, "+-.")] >= '0' && bare[strspn(bare, "+-.")] <= '9')
        error_help(err, "a number starts with a digit or '-'");
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        if (strcasecmp(word, meant[i][0]) == 0)
            error_help(err, "write %s", meant[i][1]);
    return scan_fault(scan, scan->at, LATHE_EINVAL);
}

/* Whether int64_t or double can hold the number at scan->at. */
static lathe_status check_range(struct scan *scan, size_t length, bool is_whole) {
    char number[SCAN_NUMBER_MAX + 1];
    if (length > SCAN_NUMBER_MAX) {
        fail(scan->err, LATHE_EINVAL,
             "a number of %zu characters; at most %d are accepted", length,
             SCAN_NUMBER_MAX);
        return scan_fault(scan, scan->at, LATHE_EINVAL);
    }
    memcpy(number, scan->at, length);
    number[length] = '\0';
    errno = 0;
    const char *end;
    if (is_whole && (strtoll(number, NULL, 10), errno == ERANGE)) {
        fail(scan->err, LATHE_EINVAL, "%s does not fit into 64 bits", number);
        error_help(scan->err, "whole numbers go from -9223372036854775808 to "
                              "9223372036854775807");
        return scan_fault(scan, scan->at, LATHE_EINVAL);
    }
    if (!is_whole && isinf(text_read_number(number, &end))) {
        fail(scan->err, LATHE_EINVAL, "%s is too large for a number", number);
        error_help(scan->err, "the largest is about 1.797e308");
        return scan_fault(scan, scan->at, LATHE_EINVAL);
    }
    scan->at += length;
    return LATHE_OK;
}

lathe_status scan_number(struct scan *scan) {
    const char *from = scan->at + (*scan->at == '-');
    const char *to = skip_digits(scan, from);
    if (to == from) return fail_word(scan); /* -x, -Infinity */
    bool is_whole = true, is_cut = false;
    if (to < scan->end && *to == '.') {
        const char *digits = to + 1;
        is_whole = false;
        to = skip_digits(scan, digits);
        is_cut = to == digits;
    }
    if (!is_cut && to < scan->end && (*to == 'e' || *to == 'E')) {
        const char *digits = to + 1;
        if (digits < scan->end && (*digits == '-' || *digits == '+')) digits++;
        is_whole = false;
        to = skip_digits(scan, digits);
        is_cut = to == digits;
    }
    char word[64];
    size_t length = scan_copy_word(scan, scan->at, word, sizeof word);
    if (is_cut || length > (size_t)(to - scan->at)) {
        fail(scan->err, LATHE_EINVAL, "%s is not a number of JSON", word);
        error_help(scan->err, "text goes in double quotes: \"%s\"", word);
        return scan_fault(scan, scan->at, LATHE_EINVAL);
    }
    if (*from == '0' && is_digit(from + 1 < scan->end ? (unsigned char)from[1] : -1)) {
        fail(scan->err, LATHE_EINVAL, "%s: numbers of JSON do not start with a zero",
             word);
        return scan_fault(scan, scan->at, LATHE_EINVAL);
    }
    return check_range(scan, length, is_whole);
}

lathe_status scan_word(struct scan *scan) {
    char word[64];
    size_t length = scan_copy_word(scan, scan->at, word, sizeof word);
    if (length == 0) return scan_unexpected(scan, "a value");
    if (strcmp(word, "true") != 0 && strcmp(word, "false") != 0 &&
        strcmp(word, "null") != 0)
        return fail_word(scan);
    scan->at += length;
    return LATHE_OK;
}

void scan_place(const char *bytes, size_t offset, size_t *line, size_t *column) {
    *line = *column = 1;
    for (size_t i = 0; i < offset; i++) {
        if (bytes[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)bytes[i] & 0xc0) != 0x80) {
            ++*column;
        }
    }
}
