/* SPDX-License-Identifier: MIT */
#include "npy_header.h"

#include <string.h>

struct cursor {
    const char *at, *end;
};

enum { KEY_DESCR = 1, KEY_FORTRAN_ORDER = 2, KEY_SHAPE = 4, KEY_ALL = 7 };

static void skip_blanks(struct cursor *c) {
    while (c->at < c->end && strchr(" \t\n\r", *c->at) && *c->at) c->at++;
}

/* Takes that character, after blanks, if it comes. */
static int take(struct cursor *c, char wanted) {
    skip_blanks(c);
    if (c->at == c->end || *c->at != wanted) return 0;
    c->at++;
    return 1;
}

static int take_word(struct cursor *c, const char *word) {
    size_t length = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return 0;
    c->at += length;
    return 1;
}

/* 'text' or "text", without escapes, into text[size]. */
static int take_string(struct cursor *c, char *text, size_t size) {
    char quote = '\'';
    if (!take(c, quote)) {
        quote = '"';
        if (!take(c, quote)) return 0;
    }
    const char *end = memchr(c->at, quote, (size_t)(c->end - c->at));
    if (!end || (size_t)(end - c->at) >= size) return 0;
    size_t length = (size_t)(end - c->at);
    if (memchr(c->at, '\\', length) || memchr(c->at, '\0', length)) return 0;
    memcpy(text, c->at, length);
    text[length] = '\0';
    c->at = end + 1;
    return 1;
}

/* Digits, and the L that Python 2 may write after them. */
static int take_size(struct cursor *c, int64_t *size) {
    int64_t value = 0;
    skip_blanks(c);
    const char *first = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *c->at - '0', &value))
            return 0;
    if (c->at == first) return 0;
    if (c->at < c->end && *c->at == 'L') c->at++;
    *size = value;
    return 1;
}

/* (), (3,), (3, 4), (3, 4,) */
static const char *read_shape(struct cursor *c, struct npy_header *header) {
    if (!take(c, '(')) return "its shape is no tuple";
    header->rank = 0;
    while (!take(c, ')')) {
        if (header->rank == NPY_RANK_MAX) return "its shape has more than 32 axes";
        if (!take_size(c, &header->shape[header->rank++]))
            return "its shape has an axis that is no whole number from 0 on";
        if (take(c, ',')) continue;
        if (header->rank < 2 || !take(c, ')')) return "its shape is no tuple";
        break;
    }
    return NULL;
}

static const char *read_descr(struct cursor *c, struct npy_header *header) {
    skip_blanks(c);
    if (c->at < c->end && *c->at == '[') {
        /* Records: what follows in the header is not looked at any more. */
        strcpy(header->descr, "[");
        return NULL;
    }
    return take_string(c, header->descr, sizeof header->descr)
               ? NULL
               : "its descr is neither a type nor a list of fields";
}

static const char *read_value(struct cursor *c, int key, struct npy_header *header) {
    if (key == KEY_SHAPE) return read_shape(c, header);
    if (key == KEY_DESCR) return read_descr(c, header);
    header->is_fortran = take_word(c, "True");
    return header->is_fortran || take_word(c, "False")
               ? NULL
               : "its fortran_order is neither True nor False";
}

static int key_of(const char *name) {
    if (!strcmp(name, "descr")) return KEY_DESCR;
    if (!strcmp(name, "fortran_order")) return KEY_FORTRAN_ORDER;
    return strcmp(name, "shape") != 0 ? 0 : KEY_SHAPE;
}

const char *npy_header_read(const char *text, size_t length,
                            struct npy_header *header) {
    struct cursor c = {text, text + length};
    int seen = 0;
    if (!take(&c, '{')) return "it does not begin with {";
    while (!take(&c, '}')) {
        char name[16];
        int key = take_string(&c, name, sizeof name) ? key_of(name) : 0;
        if (!key) return "a key is none of descr, fortran_order and shape";
        if (seen & key) return "a key comes twice";
        seen |= key;
        if (!take(&c, ':')) return "a key has no : after it";
        const char *fault = read_value(&c, key, header);
        if (fault) return fault;
        if (key == KEY_DESCR && header->descr[0] == '[') return NULL;
        if (take(&c, ',')) continue;
        if (!take(&c, '}')) return "there is no , between its members";
        break;
    }
    skip_blanks(&c);
    if (c.at < c.end) return "something comes after its }";
    return seen == KEY_ALL ? NULL : "it does not have descr, fortran_order and shape";
}
