/* SPDX-License-Identifier: MIT */
/* Safetensors files by hand: a header and data, right or wrong. */
#ifndef TESTS_HOST_SAFETENSORS_FILES_H
#define TESTS_HOST_SAFETENSORS_FILES_H

#include <stdbool.h>

#include "support/scratch.h"

#include "base/file.h"
#include "safetensors.h"

/* A length before a header, whatever the header's is; then `data` bytes of zero. */
static inline const char *files_raw(struct scratch *scratch, uint64_t length,
                                    const char *header, size_t header_bytes,
                                    size_t data) {
    char *bytes = calloc(1, 8 + header_bytes + data);
    for (int i = 0; i < 8; i++) bytes[i] = (char)(length >> 8 * i & 255);
    memcpy(bytes + 8, header, header_bytes);
    scratch_write(scratch, "file.safetensors", bytes, 8 + header_bytes + data);
    free(bytes);
    return scratch->path;
}

static inline const char *files_make(struct scratch *scratch, const char *header,
                                     size_t data) {
    return files_raw(scratch, strlen(header), header, strlen(header), data);
}

static inline struct safetensors *files_open(const char *path) {
    struct safetensors *file = NULL;
    struct error err = {0};
    if (safetensors_open(path, &file, &err)) fail_msg("%s: %s", err.where, err.what);
    return file;
}

/* It is not to be opened, and this is part of why. */
static inline void files_refuse(const char *path, const char *why) {
    struct safetensors *file = NULL;
    struct error err = {0};
    lathe_status status = safetensors_open(path, &file, &err);
    if (status != LATHE_EDATA || !strstr(err.what, why))
        fail_msg("expected \"%s\", got %d \"%s\"", why, (int)status, err.what);
    assert_null(file);
    assert_string_equal(err.where, path);
}

static inline int files_init(void **state) {
    static struct scratch scratch;
    scratch_init(&scratch);
    *state = &scratch;
    return 0;
}

static inline int files_finish(void **state) {
    scratch_finish(*state);
    return 0;
}

#endif
