/* SPDX-License-Identifier: MIT */
/* Any bytes as a gzip, zstd or tar file: read whole, as a stream, and member by member.
 * What is inflated whole is what the stream gives. */
#include "fuzz.h"

#include "archive.h"

#define PIECE 4096

/* A stream of a file that is inflated: the same bytes, as far as there is a whole. */
static void check_stream(const char *path, const char *whole, int64_t count) {
    struct archive_stream *stream = NULL;
    struct error err = {0};
    char piece[PIECE];
    int64_t got = 0, total = 0;
    if (archive_stream_open(path, &stream, &err)) {
        fuzz_check_error(&err);
        FUZZ_CHECK(!whole);
        return;
    }
    lathe_status status;
    do {
        status = archive_stream_read(stream, piece, PIECE, &got, &err);
        if (status) break;
        FUZZ_CHECK(got >= 0 && got <= PIECE);
        if (whole) {
            FUZZ_CHECK(got <= count - total);
            FUZZ_CHECK(!memcmp(whole + total, piece, (size_t)got));
        }
        total += got;
    } while (got == PIECE);
    if (status) fuzz_check_error(&err);
    if (whole) FUZZ_CHECK_FOUND(!status && total == count, err.what);
    archive_stream_close(stream);
}

static void check_members(const char *path) {
    struct archive_stream *stream = NULL;
    struct error err = {0};
    const char *name = NULL;
    char piece[PIECE];
    int64_t got = 0;
    if (archive_stream_open(path, &stream, &err)) return;
    lathe_status status;
    while ((status = archive_stream_next(stream, &name, &err)) == LATHE_OK) {
        FUZZ_CHECK(name && text_utf8(name, strlen(name) + 1));
        do {
            status = archive_stream_read(stream, piece, PIECE, &got, &err);
        } while (!status && got == PIECE);
        if (status) break;
    }
    if (status < 0) fuzz_check_error(&err);
    archive_stream_close(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char path[40];
    void *whole = NULL;
    int64_t length = 0, mapped = 0;
    struct error err = {0};
    int fd = fuzz_file(bytes, count, path);
    if (archive_is_compressed(bytes, count)) {
        if (archive_inflate(fd, path, &whole, &length, &mapped, &err)) {
            fuzz_check_error(&err);
            FUZZ_CHECK(!whole);
        } else {
            FUZZ_CHECK(whole && length >= 0 && length <= mapped);
        }
    }
    check_stream(path, whole, length);
    check_members(path);
    if (whole) munmap(whole, (size_t)mapped);
    return 0;
}
