/* SPDX-License-Identifier: MIT */
#include "csv_parse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct csv_cursor csv_begin(const char *bytes, int64_t count, char delimiter) {
    struct csv_cursor cursor = {.at = bytes,
                                .end = bytes + count,
                                .delimiter = delimiter,
                                .line = 1,
                                .record_line = 1};
    if (count >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3)) cursor.at += 3;
    return cursor;
}

static int64_t fault(struct csv_cursor *cursor, const char *what) {
    cursor->fault = what;
    return -1;
}

/* Past a closing quote, or -1. */
static int64_t read_quoted(struct csv_cursor *cursor, struct csv_field *field) {
    int64_t opened = cursor->line;
    const char *start = ++cursor->at;
    field->bytes = start;
    field->has_escapes = 0;
    for (; cursor->at < cursor->end; cursor->at++) {
        if (*cursor->at == '\n') cursor->line++;
        if (*cursor->at == 0) return fault(cursor, "a NUL byte; is this text?");
        if (*cursor->at != '"') continue;
        if (cursor->at + 1 < cursor->end && cursor->at[1] == '"') {
            field->has_escapes = 1;
            cursor->at++;
            continue;
        }
        if (cursor->at - start > UINT32_MAX) return fault(cursor, "a field over 4 GiB");
        field->length = (uint32_t)(cursor->at++ - start);
        return 0;
    }
    cursor->line = opened;
    return fault(cursor, "the quote that opens here is never closed");
}

static int is_field_end(const struct csv_cursor *cursor) {
    return cursor->at == cursor->end || *cursor->at == cursor->delimiter ||
           *cursor->at == '\n' || *cursor->at == '\r';
}

static int64_t read_bare(struct csv_cursor *cursor, struct csv_field *field) {
    const char *start = cursor->at;
    for (; !is_field_end(cursor); cursor->at++) {
        if (*cursor->at == '"')
            return fault(cursor, "a quote inside a field that does not start with one");
        if (*cursor->at == 0) return fault(cursor, "a NUL byte; is this text?");
    }
    if (cursor->at - start > UINT32_MAX) return fault(cursor, "a field over 4 GiB");
    *field = (struct csv_field){start, (uint32_t)(cursor->at - start), 0};
    return 0;
}

/* Past LF or CRLF; the end of the file counts. */
static int64_t read_line_end(struct csv_cursor *cursor) {
    if (cursor->at == cursor->end) return 0;
    if (*cursor->at == '\r') {
        if (cursor->at + 1 < cursor->end && cursor->at[1] != '\n')
            return fault(cursor, "a CR that is not followed by LF");
        cursor->at++;
    }
    if (cursor->at < cursor->end) cursor->at++;
    cursor->line++;
    return 0;
}

/* Blank lines, and nothing after them. */
static int is_at_end(const struct csv_cursor *cursor) {
    const char *at = cursor->at;
    while (at < cursor->end && (*at == '\n' || *at == '\r')) at++;
    return at == cursor->end;
}

int64_t csv_next(struct csv_cursor *cursor, struct csv_field *fields,
                 int64_t capacity) {
    if (is_at_end(cursor)) return 0;
    cursor->record_line = cursor->line;
    for (int64_t count = 1;; count++) {
        struct csv_field field = {0};
        int is_quoted = cursor->at < cursor->end && *cursor->at == '"';
        if (is_quoted ? read_quoted(cursor, &field) : read_bare(cursor, &field))
            return -1;
        if (!is_field_end(cursor)) return fault(cursor, "text after a closing quote");
        if (count <= capacity) fields[count - 1] = field;
        if (cursor->at < cursor->end && *cursor->at == cursor->delimiter) {
            cursor->at++;
            continue;
        }
        return read_line_end(cursor) ? -1 : count;
    }
}

/* The byte at *at of the content, moving past it. */
static unsigned char take_byte(const struct csv_field *field, uint32_t *at) {
    char byte = field->bytes[(*at)++];
    if (field->has_escapes && byte == '"') (*at)++;
    return (unsigned char)byte;
}

size_t csv_text(const struct csv_field *field, char *text, size_t size) {
    size_t length = 0;
    for (uint32_t at = 0; at < field->length;) {
        char byte = (char)take_byte(field, &at);
        if (length + 1 < size) text[length] = byte;
        length++;
    }
    if (size) text[length < size ? length : size - 1] = 0;
    return length;
}

char *csv_join(const struct csv_field *fields, int64_t count) {
    size_t room = 1, length = 0;
    for (int64_t i = 0; i < count; i++) room += (size_t)fields[i].length + 1;
    char *lines = calloc(room, 1);
    for (int64_t i = 0; lines && i < count; i++) {
        const size_t end = length + csv_text(&fields[i], lines + length, room - length);
        for (; length < end; length++)
            if (!lines[length] || lines[length] == '\n') lines[length] = ' ';
        if (i + 1 < count) lines[length++] = '\n';
    }
    return lines;
}

int csv_compare(const struct csv_field *a, const struct csv_field *b) {
    uint32_t i = 0, j = 0;
    while (i < a->length && j < b->length) {
        int difference = take_byte(a, &i) - take_byte(b, &j);
        if (difference) return difference;
    }
    return (i < a->length) - (j < b->length);
}

/* ---- numbers ---- */

/* Digits that are kept: enough to round a float, the rest only move the point. */
#define DIGITS_MAX 24

struct decimal {
    char digits[DIGITS_MAX + 1];
    int count;
    int64_t exponent; /* of ten, times the digits as a whole number */
    int is_negative, has_digits, is_sticky;
};

static const char *skip_digits(const char *at, const char *end, struct decimal *decimal,
                               int is_fraction) {
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        decimal->has_digits = 1;
        decimal->exponent -= is_fraction;
        if (decimal->count == 0 && *at == '0') continue;
        if (decimal->count < DIGITS_MAX) {
            decimal->digits[decimal->count++] = *at;
            continue;
        }
        decimal->exponent++;
        decimal->is_sticky |= *at != '0';
    }
    return at;
}

/* "e-12", or nothing; NULL when it is neither. */
static const char *read_exponent(const char *at, const char *end, int64_t *exponent) {
    if (at == end || (*at != 'e' && *at != 'E')) return at;
    int is_negative = ++at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    int64_t value = 0;
    if (at == end || *at < '0' || *at > '9') return NULL;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        if (value < 100000) value = value * 10 + (*at - '0');
    *exponent += is_negative ? -value : value;
    return at;
}

/* Sign, digits, point, exponent; 0 unless all of it is a number. */
static int read_decimal(const char *at, const char *end, struct decimal *decimal) {
    *decimal = (struct decimal){.is_negative = at < end && *at == '-'};
    if (at < end && (*at == '-' || *at == '+')) at++;
    at = skip_digits(at, end, decimal, 0);
    if (at < end && *at == '.') at = skip_digits(at + 1, end, decimal, 1);
    if (!decimal->has_digits) return 0;
    at = read_exponent(at, end, &decimal->exponent);
    return at == end;
}

/* strtof obeys the locale's point, so it gets whole digits and an exponent, no point.
 * Up to seven digits and ten places are exact in a float, and then one division rounds
 * right. */
static float round_decimal(struct decimal *decimal) {
    static const float powers[] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f,
                                   1e6f, 1e7f, 1e8f, 1e9f, 1e10f};
    char text[DIGITS_MAX + 32];
    float value = 0;
    if (decimal->count <= 7 && decimal->exponent <= 0 && decimal->exponent >= -10) {
        for (int i = 0; i < decimal->count; i++)
            value = value * 10 + (float)(decimal->digits[i] - '0');
        value /= powers[-decimal->exponent];
    } else {
        decimal->digits[decimal->count] = 0;
        snprintf(text, sizeof text, "%s%se%lld", decimal->digits,
                 decimal->is_sticky ? "1" : "",
                 (long long)(decimal->exponent - decimal->is_sticky));
        value = strtof(text, NULL);
    }
    return decimal->is_negative ? -value : value;
}

static int is_one_of(const char *at, size_t length, const char *const *words) {
    for (; *words; words++)
        if (strlen(*words) == length && !strncasecmp(at, *words, length)) return 1;
    return 0;
}

enum csv_number csv_read_number(const struct csv_field *field, float *number) {
    static const char *const missing[] = {"", "nan", "na", "n/a", "null", "?", NULL};
    static const char *const infinite[] = {"inf", "infinity", NULL};
    const char *at = field->bytes, *end = at + field->length;
    struct decimal decimal;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
    if (!read_decimal(at, end, &decimal)) {
        if (at < end && (*at == '-' || *at == '+')) at++;
        if (is_one_of(at, (size_t)(end - at), missing)) return CSV_MISSING;
        if (is_one_of(at, (size_t)(end - at), infinite)) return CSV_INFINITE;
        return CSV_NOT_A_NUMBER;
    }
    *number = round_decimal(&decimal);
    return isfinite(*number) ? CSV_NUMBER : CSV_INFINITE;
}

/* ---- names ---- */

#define NAME_MAX_COMPARED 64

size_t csv_distance(const char *a, const char *b) {
    size_t row[NAME_MAX_COMPARED + 1], length_a = strlen(a), length_b = strlen(b);
    if (length_a > NAME_MAX_COMPARED || length_b > NAME_MAX_COMPARED) return SIZE_MAX;
    for (size_t j = 0; j <= length_b; j++) row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[length_b];
}
