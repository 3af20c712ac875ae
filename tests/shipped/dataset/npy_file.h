/* SPDX-License-Identifier: MIT */
/* Bytes of .npy files for the tests of npy and npz. Include after trial.h. */
#ifndef TESTS_SHIPPED_DATASET_NPY_FILE_H
#define TESTS_SHIPPED_DATASET_NPY_FILE_H

#include <string.h>

struct npy_file {
    unsigned char bytes[4096];
    size_t length;
};

/* Head and numbers; version 1, or 2 and 3 with a wider length. Not padded: a reader
 * must not need it. */
static inline struct npy_file npy_file_make(int version, const char *dictionary,
                                            const void *numbers, size_t count) {
    struct npy_file file = {.bytes = "\x93NUMPY"};
    size_t length = strlen(dictionary), width = version == 1 ? 2 : 4;
    file.bytes[6] = (unsigned char)version;
    file.bytes[8] = (unsigned char)length;
    file.bytes[9] = (unsigned char)(length >> 8);
    file.length = 8 + width;
    memcpy(file.bytes + file.length, dictionary, length);
    file.length += length;
    memcpy(file.bytes + file.length, numbers, count);
    file.length += count;
    return file;
}

#endif
