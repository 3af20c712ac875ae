/* SPDX-License-Identifier: MIT */
/* The same bytes for the same content. Data goes out in pieces that begin and end at
 * multiples of their size in the file, each summed up while the cache holds it; small
 * tensors are gathered. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/text.h"
#include "safetensors_parts.h"

#define ALIGNMENT 64 /* of the data in the file */

struct stream {
    int fd;
    int64_t at, wanted; /* where the next byte goes, how many the file gets */
    struct digest sum;
    char *gathered; /* [PIECE_BYTES] bytes that end at `at` and are not written yet */
    size_t count;
};

static lathe_status write_at(struct stream *stream, const char *from, size_t count,
                             int64_t offset, struct error *err) {
    while (count) {
        ssize_t wrote = pwrite(stream->fd, from, count, offset);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0)
            return fail(err, LATHE_EIO, "cannot write %lld bytes: %s, at byte %lld",
                        (long long)stream->wanted, strerror(wrote < 0 ? errno : ENOSPC),
                        (long long)offset);
        from += wrote, offset += wrote, count -= (size_t)wrote;
    }
    return LATHE_OK;
}

static lathe_status flush(struct stream *stream, struct error *err) {
    size_t count = stream->count;
    stream->count = 0;
    digest_add(&stream->sum, stream->gathered, count);
    return write_at(stream, stream->gathered, count, stream->at - (int64_t)count, err);
}

static lathe_status add(struct stream *stream, const char *bytes, int64_t size,
                        struct error *err) {
    lathe_status status = LATHE_OK;
    while (size && !status) {
        const size_t room = PIECE_BYTES - (size_t)stream->at % PIECE_BYTES;
        const size_t count = size < (int64_t)room ? (size_t)size : room;
        if (count == PIECE_BYTES) { /* nothing is gathered: the last piece was full */
            digest_add(&stream->sum, bytes, count);
            status = write_at(stream, bytes, count, stream->at, err);
        } else {
            memcpy(stream->gathered + stream->count, bytes, count);
            stream->count += count;
        }
        stream->at += (int64_t)count;
        if (count == room && stream->count) status = flush(stream, err);
        bytes += count, size -= (int64_t)count;
    }
    return status;
}

/* ---- the header ---- */

static int compare_names(const void *a, const void *b) {
    const struct safetensor *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static int compare_tensors(const void *a, const void *b) {
    const struct safetensor *left = a, *right = b;
    const int64_t bits = safetensors_type(left->dtype)->bits;
    const int64_t other = safetensors_type(right->dtype)->bits;
    return bits != other ? (bits > other ? -1 : 1) : compare_names(a, b);
}

static bool is_utf8(const char *string) {
    size_t length = strlen(string), step = 1;
    for (size_t i = 0; i < length && step; i += step)
        step = text_utf8(string + i, length - i);
    return step != 0;
}

static lathe_status check_tensor(const struct safetensor *tensor, struct error *err) {
    const struct safetensors_type *type = safetensors_type(tensor->dtype);
    int64_t bytes;
    if (!is_utf8(tensor->name) || strcmp(tensor->name, METADATA) == 0)
        return fail(err, LATHE_EINVAL, "\"%.200s\" cannot be the name of a tensor",
                    tensor->name);
    if (!type || tensor->rank < 0 || tensor->rank > LATHE_RANK_MAX ||
        !safetensors_bytes(tensor, type, &bytes) || bytes != tensor->bytes)
        return fail(err, LATHE_EINVAL,
                    "tensor \"%.200s\": its %lld bytes are not what %.40s of its shape "
                    "takes",
                    tensor->name, (long long)tensor->bytes, tensor->dtype);
    return LATHE_OK;
}

/* Checks them and puts them in order. *bytes: of all. */
static lathe_status arrange(struct safetensor *tensors, size_t count, int64_t *bytes,
                            struct error *err) {
    *bytes = 0;
    if (count == 0) return LATHE_OK;
    qsort(tensors, count, sizeof *tensors, compare_names);
    for (size_t i = 0; i < count; i++) {
        lathe_status status = check_tensor(&tensors[i], err);
        if (status) return status;
        if (i && strcmp(tensors[i - 1].name, tensors[i].name) == 0)
            return fail(err, LATHE_EINVAL, "tensor \"%.200s\" is given twice",
                        tensors[i].name);
        if (__builtin_add_overflow(*bytes, tensors[i].bytes, bytes))
            return fail(err, LATHE_EINVAL, "the tensors take more than 2^63 bytes");
    }
    qsort(tensors, count, sizeof *tensors, compare_tensors);
    return LATHE_OK;
}

static void add_pair(struct text *header, const char *key, const char *value) {
    text_json_string(header, key);
    text_add(header, ":");
    text_json_string(header, value);
}

/* The digest's digits come as '0's, *digest_at into the text. */
static lathe_status write_notes(struct text *header,
                                const struct safetensors_note *notes, size_t count,
                                size_t *digest_at, struct error *err) {
    static const char zeros[] =
        "0000000000000000000000000000000000000000000000000000000000000000";
    struct safetensors_note *sorted = malloc((count + 1) * sizeof *sorted);
    lathe_status status = LATHE_OK;
    if (!sorted) return fail(err, LATHE_ENOMEM, "no memory for %zu notes", count);
    if (count) memcpy(sorted, notes, count * sizeof *sorted);
    sorted[count] = (struct safetensors_note){SAFETENSORS_DIGEST, zeros};
    qsort(sorted, count + 1, sizeof *sorted, safetensors_compare_notes);
    text_add(header, "{\"" METADATA "\":{");
    for (size_t i = 0; i <= count; i++) {
        if (i && strcmp(sorted[i - 1].key, sorted[i].key) == 0)
            status = fail(err, LATHE_EINVAL, "the note \"%.200s\" is given twice",
                          sorted[i].key);
        if (i) text_add(header, ",");
        add_pair(header, sorted[i].key, sorted[i].value);
        if (sorted[i].value == zeros) *digest_at = header->length - 1 - DIGEST_DIGITS;
    }
    text_add(header, "}");
    free(sorted);
    return status;
}

static void write_tensor(struct text *header, const struct safetensor *tensor,
                         int64_t begin) {
    const int64_t end = begin + tensor->bytes;
    text_add(header, ",");
    text_json_string(header, tensor->name);
    text_format(header, ":{\"dtype\":\"%s\",\"shape\":[", tensor->dtype);
    for (int32_t i = 0; i < tensor->rank; i++)
        text_format(header, i ? ",%lld" : "%lld", (long long)tensor->shape[i]);
    text_format(header, "],\"data_offsets\":[%lld,%lld]}", (long long)begin,
                (long long)end);
}

/* The length and what it is the length of: everything before the data. */
static lathe_status write_header(struct text *header, const struct safetensor *tensors,
                                 size_t count, const struct safetensors_note *notes,
                                 size_t note_count, size_t *digest_at,
                                 struct error *err) {
    int64_t begin = 0;
    text_add_bytes(header, "\0\0\0\0\0\0\0", LENGTH_BYTES);
    lathe_status status = write_notes(header, notes, note_count, digest_at, err);
    if (status) return status;
    for (size_t i = 0; i < count; begin += tensors[i++].bytes)
        write_tensor(header, &tensors[i], begin);
    text_add(header, "}");
    while (header->length % ALIGNMENT && !header->is_broken) text_add(header, " ");
    if (header->is_broken)
        return fail(err, LATHE_ENOMEM, "no memory for the header of %zu tensors",
                    count);
    const uint64_t length = header->length - LENGTH_BYTES;
    if (length > (uint64_t)HEADER_MAX)
        return fail(err, LATHE_EINVAL,
                    "names and notes take %llu bytes; at most %lld can be read back",
                    (unsigned long long)length, (long long)HEADER_MAX);
    for (int i = 0; i < LENGTH_BYTES; i++)
        header->data[i] = (char)(length >> 8 * i & 255);
    return LATHE_OK;
}

/* ---- all of it ---- */

static lathe_status write_data(struct stream *stream, const struct safetensor *tensors,
                               size_t count, struct error *err) {
    lathe_status status = LATHE_OK;
    char *gathered = malloc(PIECE_BYTES);
    if (!gathered)
        return fail(err, LATHE_ENOMEM, "no memory for %zu bytes to write from",
                    PIECE_BYTES);
    stream->gathered = gathered;
    for (size_t i = 0; i < count && !status; i++)
        status = add(stream, tensors[i].data, tensors[i].bytes, err);
    if (!status) status = flush(stream, err);
    free(gathered);
    return status;
}

lathe_status safetensors_write(int fd, struct safetensor *tensors, size_t count,
                               const struct safetensors_note *notes, size_t note_count,
                               struct error *err) {
    struct text header = {0};
    struct stream stream = {.fd = fd};
    char hex[DIGEST_HEX];
    size_t digest_at = 0;
    int64_t bytes;
    lathe_status status = arrange(tensors, count, &bytes, err);
    if (!status)
        status =
            write_header(&header, tensors, count, notes, note_count, &digest_at, err);
    if (!status) {
        stream.at = (int64_t)header.length;
        stream.wanted = stream.at + bytes;
        digest_begin(&stream.sum);
        digest_add(&stream.sum, header.data, header.length);
        status = write_data(&stream, tensors, count, err);
    }
    if (!status) {
        digest_end(&stream.sum, hex);
        memcpy(header.data + digest_at, hex, DIGEST_DIGITS);
        status = write_at(&stream, header.data, header.length, 0, err);
    }
    text_finish(&header);
    return status;
}
