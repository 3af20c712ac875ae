/* SPDX-License-Identifier: MIT */
/* Read with pread, never mapped: a file that shrinks meanwhile is an error, no
 * signal. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "safetensors_parts.h"

static lathe_status read_at(const struct safetensors *file, void *bytes, int64_t count,
                            int64_t offset, struct error *err) {
    for (char *to = bytes; count;) {
        ssize_t got = pread(file->fd, to, (size_t)count, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fail(err, LATHE_EIO, "cannot read %lld bytes at byte %lld: %s",
                        (long long)count, (long long)offset, strerror(errno));
        if (got == 0)
            return fail(
                err, LATHE_EDATA,
                "it was cut short: it had %lld bytes when opened, and has no byte %lld",
                (long long)file->size, (long long)offset);
        to += got, offset += got, count -= got;
    }
    return LATHE_OK;
}

static lathe_status fail_length(const struct safetensors *file, uint64_t length,
                                struct error *err) {
    fail(err, LATHE_EDATA,
         "it is cut short, or no safetensors file: its first 8 bytes ask for a header "
         "of %llu bytes, and it has %lld bytes",
         (unsigned long long)length, (long long)file->size);
    if (length == 0)
        fail(err, LATHE_EDATA,
             "it was never written to its end, or is no safetensors file: it has no "
             "header");
    else if (length <= (uint64_t)file->size - LENGTH_BYTES)
        fail(err, LATHE_EDATA,
             "no safetensors file, or too many tensors: its first 8 bytes ask for a "
             "header of %llu bytes; at most %lld are accepted",
             (unsigned long long)length, (long long)HEADER_MAX);
    return LATHE_EDATA;
}

/* The header's length, checked before anything of it is allocated. */
static lathe_status read_length(struct safetensors *file, size_t *length,
                                struct error *err) {
    unsigned char start[LENGTH_BYTES + 1];
    if (file->size < (int64_t)sizeof start)
        return fail(err, LATHE_EDATA,
                    "no safetensors file: it has %lld bytes, and the shortest has 10",
                    (long long)file->size);
    lathe_status status = read_at(file, start, sizeof start, 0, err);
    if (status) return status;
    if (start[0] == '{')
        return fail(err, LATHE_EDATA,
                    "no safetensors file: it begins as JSON does, with \"{\"");
    uint64_t asked = 0;
    for (int i = LENGTH_BYTES; i--;) asked = asked << 8 | start[i];
    if (asked == 0 || asked > (uint64_t)HEADER_MAX ||
        asked > (uint64_t)file->size - LENGTH_BYTES)
        return fail_length(file, asked, err);
    if (start[LENGTH_BYTES] != '{')
        return fail(
            err, LATHE_EDATA,
            "no safetensors file: its header begins with 0x%02x; '{' was expected",
            start[LENGTH_BYTES]);
    *length = (size_t)asked;
    file->data_start = LENGTH_BYTES + (int64_t)asked;
    return LATHE_OK;
}

static lathe_status read_header(struct safetensors *file, struct error *err) {
    size_t length = 0;
    lathe_status status = read_length(file, &length, err);
    if (status) return status;
    file->header = malloc(length + 1);
    if (!file->header)
        return fail(err, LATHE_ENOMEM, "no memory for a header of %zu bytes", length);
    file->header[length] = '\0';
    status = read_at(file, file->header, (int64_t)length, LENGTH_BYTES, err);
    return status ? status : safetensors_parse(file, length, err);
}

lathe_status safetensors_open(const char *path, struct safetensors **file,
                              struct error *err) {
    struct safetensors *opened = calloc(1, sizeof *opened);
    if (!opened) return fail(err, LATHE_ENOMEM, "no memory to open \"%.400s\"", path);
    opened->fd = -1;
    lathe_status status = file_open(path, &opened->fd, &opened->size, err);
    if (!status) {
        opened->path = text_copy(path);
        status = opened->path ? read_header(opened, err)
                              : fail(err, LATHE_ENOMEM, "no memory to open it");
        if (status) error_where(err, "%.380s", path);
    }
    if (status)
        safetensors_close(opened);
    else
        *file = opened;
    return status;
}

void safetensors_close(struct safetensors *file) {
    if (!file) return;
    if (file->fd >= 0) close(file->fd);
    free(file->path);
    free(file->header);
    free(file->tensors);
    free(file->by_name);
    free(file->notes);
    free(file);
}

size_t safetensors_count(const struct safetensors *file) {
    return file->count;
}

const struct safetensor *safetensors_at(const struct safetensors *file, size_t index) {
    return index < file->count ? &file->tensors[index] : NULL;
}

static int compare_name(const void *name, const void *item) {
    const struct safetensor *const *tensor = item;
    return strcmp(name, (*tensor)->name);
}

const struct safetensor *safetensors_find(const struct safetensors *file,
                                          const char *name) {
    const struct safetensor **found =
        bsearch(name, file->by_name, file->count, sizeof *file->by_name, compare_name);
    return found ? *found : NULL;
}

const char *safetensors_note(const struct safetensors *file, const char *key) {
    const struct safetensors_note wanted = {key, NULL};
    const struct safetensors_note *found =
        file->note_count ? bsearch(&wanted, file->notes, file->note_count,
                                   sizeof *file->notes, safetensors_compare_notes)
                         : NULL;
    return found ? found->value : NULL;
}

lathe_status safetensors_read(const struct safetensors *file,
                              const struct safetensor *tensor, void *bytes,
                              struct error *err) {
    lathe_status status =
        read_at(file, bytes, tensor->bytes, file->data_start + tensor->offset, err);
    if (status) error_where(err, "%.280s: tensor \"%.80s\"", file->path, tensor->name);
    return status;
}

/* ---- is it what was written ---- */

lathe_status safetensors_sum_begin(struct safetensors_sum *sum,
                                   const struct safetensors *file, struct error *err) {
    const char *expected = safetensors_note(file, SAFETENSORS_DIGEST);
    *sum = (struct safetensors_sum){.file = file};
    digest_begin(&sum->digest);
    if (expected && file->digest_at) return LATHE_OK;
    return fail(err, LATHE_EDATA,
                "it has no SHA-256 to be compared with: the note %s is %s",
                SAFETENSORS_DIGEST, expected ? "none" : "not there");
}

/* Zeros stand for the digits of the digest. */
void safetensors_sum_add(struct safetensors_sum *sum, const void *bytes, size_t count) {
    static const char zeros[] =
        "0000000000000000000000000000000000000000000000000000000"
        "000000000";
    const int64_t begin = sum->at, end = begin + (int64_t)count;
    int64_t first = sum->file->digest_at, last = first + DIGEST_DIGITS;
    sum->at = end;
    if (first < begin) first = begin;
    if (last > end) last = end;
    if (first >= last) {
        digest_add(&sum->digest, bytes, count);
        return;
    }
    digest_add(&sum->digest, bytes, (size_t)(first - begin));
    digest_add(&sum->digest, zeros, (size_t)(last - first));
    digest_add(&sum->digest, (const char *)bytes + (last - begin),
               (size_t)(end - last));
}

lathe_status safetensors_sum_end(struct safetensors_sum *sum, struct error *err) {
    const char *expected = safetensors_note(sum->file, SAFETENSORS_DIGEST);
    char hex[DIGEST_HEX];
    digest_end(&sum->digest, hex);
    if (strcmp(hex, expected) == 0) return LATHE_OK;
    return fail(err, LATHE_EDATA,
                "its content was changed: its SHA-256 is %s, and %.64s was written",
                hex, expected);
}

static lathe_status sum_up(struct safetensors_sum *sum, struct error *err) {
    const struct safetensors *file = sum->file;
    const int64_t most = (int64_t)PIECE_BYTES;
    const int64_t room = file->size < most ? file->size : most;
    char *piece = malloc((size_t)room);
    lathe_status status = LATHE_OK;
    if (!piece)
        return fail(err, LATHE_ENOMEM, "no memory for %lld bytes of it",
                    (long long)room);
    while (sum->at < file->size && !status) {
        const int64_t left = file->size - sum->at, count = left < room ? left : room;
        status = read_at(file, piece, count, sum->at, err);
        if (!status) safetensors_sum_add(sum, piece, (size_t)count);
    }
    free(piece);
    return status;
}

lathe_status safetensors_verify(const struct safetensors *file, struct error *err) {
    struct safetensors_sum sum;
    lathe_status status = safetensors_sum_begin(&sum, file, err);
    if (!status) status = sum_up(&sum, err);
    if (!status) status = safetensors_sum_end(&sum, err);
    if (status) error_where(err, "%.380s", file->path);
    return status;
}

lathe_status safetensors_open_whole(const char *path, struct safetensors **file,
                                    struct error *err) {
    *file = NULL;
    lathe_status status = safetensors_open(path, file, err);
    if (status == LATHE_OK) status = safetensors_verify(*file, err);
    if (status == LATHE_OK) return LATHE_OK;
    safetensors_close(*file);
    *file = NULL;
    return status;
}
