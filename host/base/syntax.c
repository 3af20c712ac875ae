/* SPDX-License-Identifier: MIT */
#include "syntax.h"

#include <stdbool.h>
#include <string.h>

#include "scan.h"

enum expected { VALUE, VALUE_OR_END, KEY, KEY_OR_END, AFTER_VALUE };

static lathe_status open_bracket(struct scan *scan, enum expected *expected) {
    if (scan->depth == SCAN_DEPTH_MAX) {
        fail(scan->err, LATHE_EINVAL, "nested deeper than %d levels", SCAN_DEPTH_MAX);
        return scan_fault(scan, scan->at, LATHE_EINVAL);
    }
    *expected = *scan->at == '{' ? KEY_OR_END : VALUE_OR_END;
    scan->opened[scan->depth++] = scan->at++;
    return LATHE_OK;
}

/* '}' or ']'. */
static lathe_status close_bracket(struct scan *scan, enum expected *expected) {
    char c = *scan->at, opened = scan->depth ? *scan->opened[scan->depth - 1] : '\0';
    if (!opened) return scan_unexpected(scan, "a value");
    if ((c == '}') != (opened == '{')) {
        fail(scan->err, LATHE_EINVAL, "'%c' closes what '%c' opened", c, opened);
        return scan_fault(scan, scan->at, LATHE_EINVAL);
    }
    /* In an object a value is expected only after a ':'. */
    if (*expected == VALUE && opened == '{') return scan_unexpected(scan, "a value");
    if (*expected == VALUE || *expected == KEY) {
        fail(scan->err, LATHE_EINVAL, "a comma before '%c'", c);
        error_help(scan->err, "remove the comma: JSON wants none after the last one");
        return scan_fault(scan, scan->at, LATHE_EINVAL);
    }
    scan->depth--;
    scan->at++;
    *expected = AFTER_VALUE;
    return LATHE_OK;
}

static lathe_status scan_value(struct scan *scan, enum expected *expected) {
    int c = scan_peek(scan);
    if (c == '{' || c == '[') return open_bracket(scan, expected);
    *expected = AFTER_VALUE;
    if (c == '"') return scan_string(scan);
    return c == '-' || (c >= '0' && c <= '9') ? scan_number(scan) : scan_word(scan);
}

static lathe_status scan_key(struct scan *scan, enum expected *expected) {
    if (scan_peek(scan) != '"') {
        lathe_status status = scan_unexpected(scan, "a key in double quotes");
        char word[64];
        if (!scan_copy_word(scan, scan->at, word, sizeof word)) return status;
        if (word[0] >= '0' && word[0] <= '9')
            error_help(scan->err, "decimals are written with a point: 0.1");
        else
            error_help(scan->err, "write \"%s\"", word);
        return status;
    }
    lathe_status status = scan_string(scan);
    if (status) return status;
    scan_space(scan);
    if (scan_peek(scan) != ':') return scan_unexpected(scan, "':' after a key");
    scan->at++;
    *expected = VALUE;
    return LATHE_OK;
}

/* What follows a value inside brackets. */
static lathe_status scan_comma(struct scan *scan, enum expected *expected) {
    bool is_map = *scan->opened[scan->depth - 1] == '{';
    if (scan_peek(scan) != ',')
        return scan_unexpected(scan, is_map ? "',' or '}'" : "',' or ']'");
    scan->at++;
    *expected = is_map ? KEY : VALUE;
    return LATHE_OK;
}

static lathe_status scan_text(struct scan *scan) {
    enum expected expected = VALUE;
    for (;;) {
        scan_space(scan);
        int c = scan_peek(scan);
        lathe_status status;
        if (expected == AFTER_VALUE && scan->depth == 0) break;
        if ((c == '}' || c == ']') && scan->depth)
            status = close_bracket(scan, &expected);
        else if (expected == AFTER_VALUE)
            status = scan_comma(scan, &expected);
        else if (expected == KEY || expected == KEY_OR_END)
            status = scan_key(scan, &expected);
        else
            status = scan_value(scan, &expected);
        if (status) return status;
    }
    return scan_peek(scan) < 0 ? LATHE_OK
                               : scan_unexpected(scan, "the end of the text");
}

/* Encodings that are not plain UTF-8, told by the first bytes. */
static lathe_status check_encoding(struct scan *scan) {
    const char *b = scan->bytes;
    size_t count = (size_t)(scan->end - b);
    if (count >= 3 && memcmp(b, "\xef\xbb\xbf", 3) == 0) {
        fail(scan->err, LATHE_EINVAL, "the text starts with a byte order mark");
        error_help(scan->err, "save the file as UTF-8 without BOM");
        return LATHE_EINVAL;
    }
    if (count >= 2 && (memcmp(b, "\xff\xfe", 2) == 0 || memcmp(b, "\xfe\xff", 2) == 0 ||
                       !b[0] != !b[1])) {
        fail(scan->err, LATHE_EINVAL, "the text is UTF-16 or UTF-32");
        error_help(scan->err, "save the file as UTF-8");
        return LATHE_EINVAL;
    }
    scan_space(scan);
    if (scan->at < scan->end) return LATHE_OK;
    fail(scan->err, LATHE_EINVAL, "the text is empty");
    error_help(scan->err, "the smallest object is {}");
    return LATHE_EINVAL;
}

lathe_status syntax_check(const char *bytes, size_t count, size_t *offset,
                          struct error *err) {
    struct scan scan = {
        .bytes = bytes, .at = bytes, .end = bytes + count, .fault = bytes, .err = err};
    lathe_status status = check_encoding(&scan);
    if (!status) status = scan_text(&scan);
    if (status) *offset = (size_t)(scan.fault - bytes);
    return status;
}
