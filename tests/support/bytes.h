/* SPDX-License-Identifier: MIT */
/* What a plugin saves, kept in memory:
 *
 *     struct bytes saved = {0};
 *     lathe_writer to = bytes_writer(&saved);
 *     assert_int_equal(lathe_ops_.save(self, &to), LATHE_OK);
 *     lathe_reader from = bytes_reader(&saved);
 *     assert_int_equal(lathe_ops_.load(self, &from), LATHE_OK); */
#ifndef TESTS_SUPPORT_BYTES_H
#define TESTS_SUPPORT_BYTES_H

#include "test.h"

#include <string.h>

#include <lathe/stream.h>

struct bytes {
    char data[512];
    int64_t length, at;
};

static inline lathe_status bytes_keep(const lathe_writer *to, const void *bytes,
                                      int64_t count) {
    struct bytes *b = to->context;
    assert_true(b->length + count <= (int64_t)sizeof b->data);
    memcpy(b->data + b->length, bytes, (size_t)count);
    b->length += count;
    return LATHE_OK;
}

static inline lathe_status bytes_give(const lathe_reader *from, void *bytes,
                                      int64_t count, int64_t *got) {
    struct bytes *b = from->context;
    *got = count < b->length - b->at ? count : b->length - b->at;
    memcpy(bytes, b->data + b->at, (size_t)*got);
    b->at += *got;
    return LATHE_OK;
}

/* From nothing on. */
static inline lathe_writer bytes_writer(struct bytes *bytes) {
    bytes->length = 0;
    return (lathe_writer){
        .size = sizeof(lathe_writer), .context = bytes, .write = bytes_keep};
}

/* From the start on. */
static inline lathe_reader bytes_reader(struct bytes *bytes) {
    bytes->at = 0;
    return (lathe_reader){
        .size = sizeof(lathe_reader), .context = bytes, .read = bytes_give};
}

#endif
