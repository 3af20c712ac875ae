/* SPDX-License-Identifier: MIT */
/* Tensors in one file, as the safetensors format has them: eight bytes of length, a
 * JSON header, the bytes of all tensors without a hole. Strict both ways: what is
 * written is the same for the same content, what is read has been checked whole before
 * anything is taken from it. What a tensor means is not known here.
 *
 * Format: github.com/huggingface/safetensors, README "Format". */
#ifndef HOST_SAFETENSORS_H
#define HOST_SAFETENSORS_H

#include <stddef.h>

#include <lathe/tensor.h>

#include "base/digest.h"

struct safetensor {
    const char *name;
    const char *dtype; /* "F32", "U8", …: a name of the format */
    int32_t rank;
    int64_t shape[LATHE_RANK_MAX];
    int64_t bytes;
    const void *data; /* to be written; NULL in a file that is read */
    int64_t offset;   /* in the data of a file that is read */
};

struct safetensors_note { /* one pair of __metadata__ */
    const char *key, *value;
};

/* The note that holds the SHA-256, in hexadecimal, of the whole file; while it is
 * taken, its own 64 digits are '0'. */
#define SAFETENSORS_DIGEST "lathe.sha256"

/* ---- reading ---- */

struct safetensors;

/* Opens a regular file and checks its header against the format and the file's length.
 * A tensor whose type nobody here can use is no fault. LATHE_ENOTFOUND, LATHE_EPERM,
 * LATHE_EIO; LATHE_EDATA: not such a file, cut short, or hostile. */
lathe_status safetensors_open(const char *path, struct safetensors **file,
                              struct error *err);
/* In the order of their bytes. Borrowed until close. */
size_t safetensors_count(const struct safetensors *file);
const struct safetensor *safetensors_at(const struct safetensors *file, size_t index);
/* NULL: there is none. Borrowed. */
const struct safetensor *safetensors_find(const struct safetensors *file,
                                          const char *name);
const char *safetensors_note(const struct safetensors *file, const char *key);
/* Fills `bytes` with a tensor's. */
lathe_status safetensors_read(const struct safetensors *file,
                              const struct safetensor *tensor, void *bytes,
                              struct error *err);
/* Fills `floats` with a tensor's numbers: F32 as they are, F16 and BF16 exactly, F64
 * rounded. LATHE_EDATA: of another type. */
lathe_status safetensors_read_floats(const struct safetensors *file,
                                     const struct safetensor *tensor, float *floats,
                                     struct error *err);
/* Reads everything and compares it with SAFETENSORS_DIGEST. LATHE_EDATA: it differs, or
 * there is none. */
lathe_status safetensors_verify(const struct safetensors *file, struct error *err);
/* The same for bytes that come in pieces, from the first on; `file`, which stays
 * borrowed, was opened with their header. */
struct safetensors_sum {
    const struct safetensors *file;
    struct digest digest;
    int64_t at;
};
lathe_status safetensors_sum_begin(struct safetensors_sum *sum,
                                   const struct safetensors *file, struct error *err);
void safetensors_sum_add(struct safetensors_sum *sum, const void *bytes, size_t count);
lathe_status safetensors_sum_end(struct safetensors_sum *sum, struct error *err);
/* Opens and verifies; nothing is open after a failure. */
lathe_status safetensors_open_whole(const char *path, struct safetensors **file,
                                    struct error *err);
void safetensors_close(struct safetensors *file); /* NULL is fine */

/* ---- writing ---- */

/* Writes a whole file at the start of fd, which is empty: tensors by alignment, then
 * name; notes by key, SAFETENSORS_DIGEST added. The header comes last, so that a file
 * cut short anywhere is none. `tensors` is sorted. Nothing is synchronised. LATHE_EIO;
 * LATHE_EINVAL: what could not be read back. */
lathe_status safetensors_write(int fd, struct safetensor *tensors, size_t count,
                               const struct safetensors_note *notes, size_t note_count,
                               struct error *err);

#endif
