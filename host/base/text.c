/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <ctype.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `count` more bytes and a NUL. */
static bool reserve(struct text *text, size_t count) {
    if (text->is_broken) return false;
    size_t wanted = text->length + count + 1;
    if (wanted > text->length && wanted <= text->capacity) return true;
    size_t capacity = wanted < 64 ? 64 : 2 * wanted;
    char *data = capacity > count ? realloc(text->data, capacity) : NULL;
    text->is_broken = !data;
    if (!data) return false;
    text->data = data;
    text->capacity = capacity;
    return true;
}

void text_add_bytes(struct text *text, const void *bytes, size_t count) {
    if (!reserve(text, count)) return;
    if (count) memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void text_add(struct text *text, const char *string) {
    text_add_bytes(text, string, strlen(string));
}

void text_format(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) text->is_broken = true;
    if (length < 0 || !reserve(text, (size_t)length)) return;
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

size_t text_utf8(const char *bytes, size_t count) {
    const unsigned char *b = (const unsigned char *)bytes;
    if (count == 0) return 0;
    if (b[0] < 0x80) return 1;
    size_t length = b[0] < 0xc2 ? 0 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
    if (length == 0 || b[0] > 0xf4 || length > count) return 0;
    for (size_t i = 1; i < length; i++)
        if ((b[i] & 0xc0) != 0x80) return 0;
    /* Overlong forms, surrogates, beyond U+10FFFF: told by the second byte. */
    if (b[0] == 0xe0 && b[1] < 0xa0) return 0;
    if (b[0] == 0xed && b[1] > 0x9f) return 0;
    if (b[0] == 0xf0 && b[1] < 0x90) return 0;
    if (b[0] == 0xf4 && b[1] > 0x8f) return 0;
    return length;
}

/* Of a sequence of `length` bytes, as text_utf8 tells. U+0080 to U+009F steer terminals
 * as control characters do. */
static bool is_clean(const char *sequence, size_t length) {
    const unsigned char *bytes = (const unsigned char *)sequence;
    if (length == 1) return bytes[0] >= 0x20 && bytes[0] != 0x7f;
    return length > 2 || (length == 2 && (bytes[0] != 0xc2 || bytes[1] >= 0xa0));
}

bool text_is_clean(const char *string) {
    for (size_t left = strlen(string); left;) {
        const size_t length = text_utf8(string, left);
        if (!is_clean(string, length)) return false;
        string += length;
        left -= length;
    }
    return true;
}

bool text_ends_with(const char *string, const char *end) {
    const size_t length = strlen(string), tail = strlen(end);
    return length > tail && memcmp(string + length - tail, end, tail) == 0;
}

void text_clean(char *string) {
    for (size_t left = strlen(string); left;) {
        size_t length = text_utf8(string, left);
        const bool is_kept = is_clean(string, length);
        if (length == 0) length = 1;
        if (!is_kept) memset(string, '?', length);
        string += length;
        left -= length;
    }
}

void text_clean_lines(char *string) {
    while (string) {
        char *end = strchr(string, '\n');
        if (end) *end = '\0';
        text_clean(string);
        if (end) *end++ = '\n';
        string = end;
    }
}

void text_json_string(struct text *text, const char *string) {
    if (!string) {
        text_add(text, "null");
        return;
    }
    text_add(text, "\"");
    size_t left = strlen(string);
    while (left) {
        size_t length = text_utf8(string, left);
        unsigned char first = (unsigned char)string[0];
        if (length == 0)
            text_add(text, "\xef\xbf\xbd");
        else if (first == '"' || first == '\\')
            text_format(text, "\\%c", first);
        else if (first == '\n' || first == '\t')
            text_add(text, first == '\n' ? "\\n" : "\\t");
        else if (first < 0x20 || first == 0x7f)
            text_format(text, "\\u%04x", first);
        else
            text_add_bytes(text, string, length);
        if (length == 0) length = 1;
        string += length;
        left -= length;
    }
    text_add(text, "\"");
}

/* A finite number as printf gives it, but for the locale's decimal point. */
static void add_spelled(struct text *text, const char *spelled) {
    size_t whole = strspn(spelled, "+-0123456789eE");
    text_add_bytes(text, spelled, whole);
    const char *rest = spelled + whole;
    if (!*rest) return;
    while (*rest && !isdigit((unsigned char)*rest)) rest++;
    text_format(text, ".%s", rest);
}

void text_json_number(struct text *text, double number) {
    char spelled[48];
    snprintf(spelled, sizeof spelled, "%.17g", number);
    if (isfinite(number))
        add_spelled(text, spelled);
    else
        text_add(text, "null");
}

void text_json_shortest(struct text *text, double number) {
    if (number == 0 && signbit(number)) {
        text_add(text, "-0.0"); /* "-0" would be read as the integer 0 */
        return;
    }
    if (fabs(number) < 0x1p53 && number == trunc(number)) {
        text_format(text, "%" PRId64, (int64_t)number);
        return;
    }
    for (int digits = 15; isfinite(number) && digits < 17; digits++) {
        char spelled[48];
        snprintf(spelled, sizeof spelled, "%.*g", digits, number);
        if (strtod(spelled, NULL) == number) {
            add_spelled(text, spelled);
            return;
        }
    }
    text_json_number(text, number);
}

void text_clear(struct text *text) {
    text->length = 0;
    text->is_broken = false;
    if (text->data) text->data[0] = '\0';
}

void text_finish(struct text *text) {
    free(text->data);
    memset(text, 0, sizeof *text);
}

char *text_copy(const char *string) {
    return strdup(string);
}

char *text_make(const char *format, ...) {
    char *made = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&made, format, arguments);
    va_end(arguments);
    return length < 0 ? NULL : made;
}

/* -?digits(.digits)?(e[+-]?digits)?; its length, 0 when there is none. */
static size_t number_length(const char *string) {
    const char *at = string + (*string == '-');
    size_t digits = strspn(at, "0123456789");
    if (!digits) return 0;
    at += digits;
    if (*at == '.') {
        digits = strspn(at + 1, "0123456789");
        if (digits) at += 1 + digits;
    }
    if (*at == 'e' || *at == 'E') {
        const char *exponent = at + 1 + (at[1] == '-' || at[1] == '+');
        digits = strspn(exponent, "0123456789");
        if (digits) at = exponent + digits;
    }
    return (size_t)(at - string);
}

double text_read_number(const char *string, const char **end) {
    size_t length = number_length(string);
    *end = string + length;
    if (!length) return 0;
    /* A copy, since strtod would go on where a unit follows: 0x…, 5e… */
    char *copy = strndup(string, length);
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double number = 0;
    if (copy && plain)
        number = strtod_l(copy, NULL, plain);
    else
        *end = string;
    if (plain) freelocale(plain);
    free(copy);
    return number;
}

bool text_read_version(const char *string, unsigned version[2]) {
    for (int i = 0; i < 2; i++) {
        version[i] = 0;
        int digits = 0;
        for (; *string >= '0' && *string <= '9' && digits < 4; digits++)
            version[i] = version[i] * 10 + (unsigned)(*string++ - '0');
        if (!digits || (i == 0 && *string++ != '.')) return false;
    }
    return !*string;
}
