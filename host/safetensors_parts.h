/* SPDX-License-Identifier: MIT */
/* What the parts of safetensors share: the types of the format, and a file that is
 * read. Nobody else includes it. */
#ifndef HOST_SAFETENSORS_PARTS_H
#define HOST_SAFETENSORS_PARTS_H

#include <stdbool.h>

#include "safetensors.h"

#define HEADER_MAX ((int64_t)16 << 20)
#define LENGTH_BYTES 8 /* before the header: how long it is */
#define PIECE_BYTES ((size_t)256 << 10)
#define DIGEST_DIGITS 64
#define METADATA "__metadata__"

struct safetensors {
    int fd;
    char *path;
    int64_t size, data_start;
    char *header; /* names and notes live in it, in place of their JSON */
    struct safetensor *tensors;
    const struct safetensor **by_name;
    size_t count;
    struct safetensors_note *notes; /* by key */
    size_t note_count;
    int64_t digest_at; /* of the digits, in the file; 0: none */
};

struct safetensors_type {
    const char *name;
    int64_t bits;
};

/* NULL: the format has none of that name. Static. */
const struct safetensors_type *safetensors_type(const char *name);
/* What a tensor's shape takes. False: more than an int64_t counts, below 0, or no
 * whole number of bytes. */
bool safetensors_bytes(const struct safetensor *tensor,
                       const struct safetensors_type *type, int64_t *bytes);
int safetensors_compare_notes(const void *a, const void *b);
/* Takes file->header, `length` bytes and a NUL, apart into tensors and notes, and
 * checks them against each other and the file's size. */
lathe_status safetensors_parse(struct safetensors *file, size_t length,
                               struct error *err);

#endif
