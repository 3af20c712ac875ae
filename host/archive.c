/* SPDX-License-Identifier: MIT */
#include "archive_parts.h"

#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/crc32.h"
#include "base/file.h"
#include "base/text.h"

static const char *const compression_names[] = {"plain", "gzip", "zstd"};

static enum compression compression_of(const void *head, size_t count) {
    if (count >= 3 && !memcmp(head, "\x1f\x8b\x08", 3)) return COMPRESSION_GZIP;
    if (count >= 4 && !memcmp(head, "\x28\xb5\x2f\xfd", 4)) return COMPRESSION_ZSTD;
    return COMPRESSION_NONE;
}

int archive_is_compressed(const void *head, size_t count) {
    return compression_of(head, count) != COMPRESSION_NONE;
}

/* libarchive tells its own findings from those of read(2) by the number. */
lathe_status archive_fail(struct archive *reader, enum compression compression,
                          const char *path, struct error *err) {
    int number = archive_errno(reader);
    const char *text = archive_error_string(reader);
    if (!text) text = "no reason given";
    if (number == ENOMEM) return fail(err, LATHE_ENOMEM, "%s: out of memory", path);
    if (number == EIO)
        return fail(err, LATHE_EIO, "%s: cannot be read: %s", path, text);
    return fail(
        err, LATHE_EDATA, "%s: %s data is damaged or cut short: %s", path,
        compression == COMPRESSION_NONE ? "tar" : compression_names[compression], text);
}

/* Only the filter that the first bytes ask for is switched on: a libarchive without
 * zstd would else start a program of that name. */
static int choose_formats(struct archive *reader, enum compression compression,
                          int is_tar) {
    int result = ARCHIVE_OK;
    if (compression == COMPRESSION_GZIP)
        result = archive_read_support_filter_gzip(reader);
    if (compression == COMPRESSION_ZSTD)
        result = archive_read_support_filter_zstd(reader);
    if (result != ARCHIVE_OK) return result;
    if (is_tar) return archive_read_support_format_tar(reader);
    result = archive_read_support_format_empty(reader);
    return result == ARCHIVE_OK ? archive_read_support_format_raw(reader) : result;
}

lathe_status archive_begin(int fd, const char *path, int is_tar,
                           enum compression *compression, struct archive **reader,
                           struct error *err) {
    unsigned char head[4];
    ssize_t got = pread(fd, head, sizeof head, 0);
    if (got < 0 || lseek(fd, 0, SEEK_SET) < 0)
        return fail(err, LATHE_EIO, "%s: cannot be read: %s", path, strerror(errno));
    *compression = compression_of(head, (size_t)got);
    struct archive *opened = archive_read_new();
    if (!opened) return fail(err, LATHE_ENOMEM, "%s: out of memory", path);
    lathe_status status = LATHE_OK;
    if (choose_formats(opened, *compression, is_tar) != ARCHIVE_OK)
        status = fail(err, LATHE_EINVAL, "%s: this libarchive cannot read %s data",
                      path, compression_names[*compression]);
    else if (archive_read_open_fd(opened, fd, 256 * 1024) != ARCHIVE_OK)
        status = archive_fail(opened, *compression, path, err);
    else if (archive_filter_count(opened) > 2)
        status = fail(err, LATHE_EDATA, "%s: is compressed more than once", path);
    else if (*compression != COMPRESSION_NONE && archive_filter_count(opened) < 2)
        status = fail(err, LATHE_EDATA, "%s: the %s header is damaged or cut short",
                      path, compression_names[*compression]);
    if (status)
        archive_read_free(opened);
    else
        *reader = opened;
    return status;
}

lathe_status archive_enter(struct archive *reader, enum compression compression,
                           const char *path, struct error *err) {
    struct archive_entry *entry;
    int result = archive_read_next_header(reader, &entry);
    if (result == ARCHIVE_EOF) return LATHE_END;
    if (result < ARCHIVE_WARN) return archive_fail(reader, compression, path, err);
    return LATHE_OK;
}

/* ---- whole files ---- */

struct pages {
    char *bytes;
    size_t count, mapped;
};

/* Memory of the machine: what a file that inflates for ever runs into. */
static size_t memory_limit(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX / 2;
}

static lathe_status resize_pages(struct pages *pages, size_t wanted, const char *path,
                                 struct error *err) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t rounded = (wanted + page - 1) / page * page;
    if (rounded == 0) rounded = page;
    if (rounded == pages->mapped) return LATHE_OK;
    void *bytes = MAP_FAILED;
    if (rounded <= memory_limit())
        bytes = pages->bytes
                    ? mremap(pages->bytes, pages->mapped, rounded, MREMAP_MAYMOVE)
                    : mmap(NULL, rounded, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) {
        fail(err, LATHE_ENOMEM, "%s: inflates to more than %zu MiB: out of memory",
             path, pages->count >> 20);
        return LATHE_ENOMEM;
    }
    pages->bytes = bytes;
    pages->mapped = rounded;
    /* Fewer, larger page faults while it is filled; where there are none, no harm. */
    madvise(bytes, rounded, MADV_HUGEPAGE);
    return LATHE_OK;
}

static lathe_status append(struct pages *pages, const void *bytes, size_t count,
                           const char *path, struct error *err) {
    if (count > pages->mapped - pages->count) {
        size_t wanted = pages->mapped + pages->mapped / 2;
        if (wanted < pages->count + count) wanted = pages->count + count;
        lathe_status status = resize_pages(pages, wanted, path, err);
        if (status) return status;
    }
    memcpy(pages->bytes + pages->count, bytes, count);
    pages->count += count;
    return LATHE_OK;
}

static uint32_t little_endian(const unsigned char bytes[4]) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* The last eight bytes of a gzip file: checksum and length of its last member, which is
 * the whole file unless several were joined. libarchive skips them. */
struct trailer {
    uint32_t crc, length;
};

/* A file too short for one gets what fits no content. */
static struct trailer read_trailer(int fd) {
    unsigned char bytes[8];
    struct trailer trailer = {0, UINT32_MAX};
    off_t end = lseek(fd, 0, SEEK_END);
    if (end < 18 || pread(fd, bytes, 8, end - 8) != 8) return trailer;
    trailer.crc = little_endian(bytes);
    trailer.length = little_endian(bytes + 4);
    return trailer;
}

/* Past 4 GiB the length says too little to know what the checksum is of. */
static lathe_status check_trailer(const struct trailer *trailer,
                                  const struct pages *pages, const char *path,
                                  struct error *err) {
    if (pages->count > UINT32_MAX) return LATHE_OK;
    size_t length = trailer->length;
    if (length <= pages->count &&
        crc32_bytes(pages->bytes + pages->count - length, length) == trailer->crc)
        return LATHE_OK;
    return fail(err, LATHE_EDATA,
                "%s: gzip data is damaged or cut short: its checksum does not fit",
                path);
}

static lathe_status read_all(struct archive *reader, enum compression compression,
                             struct pages *pages, const char *path, struct error *err) {
    lathe_status status = archive_enter(reader, compression, path, err);
    while (status == LATHE_OK) {
        const void *block;
        size_t size;
        la_int64_t offset;
        int result = archive_read_data_block(reader, &block, &size, &offset);
        if (result == ARCHIVE_EOF) break;
        if (result < ARCHIVE_WARN) return archive_fail(reader, compression, path, err);
        status = append(pages, block, size, path, err);
    }
    return status == LATHE_END ? LATHE_OK : status;
}

/* What the trailer says is a hint, and may be a lie: no compressor makes a file of this
 * length inflate to more than 1032 times its size. */
static size_t first_guess(int fd, const struct trailer *trailer) {
    off_t size = lseek(fd, 0, SEEK_END);
    size_t most = size < 0 ? 0 : (size_t)size * 1032;
    return trailer->length < most ? trailer->length : 0;
}

lathe_status archive_inflate(int fd, const char *path, void **bytes, int64_t *count,
                             int64_t *mapped, struct error *err) {
    enum compression compression = COMPRESSION_NONE;
    struct archive *reader = NULL;
    struct pages pages = {0};
    struct trailer trailer = read_trailer(fd);
    size_t guess = first_guess(fd, &trailer);
    lathe_status status = archive_begin(fd, path, 0, &compression, &reader, err);
    if (status) return status;
    if (compression != COMPRESSION_GZIP) guess = 0;
    if (guess == 0 || resize_pages(&pages, guess, path, NULL))
        status = resize_pages(&pages, 1u << 20, path, err);
    if (!status) status = read_all(reader, compression, &pages, path, err);
    if (!status && compression == COMPRESSION_GZIP)
        status = check_trailer(&trailer, &pages, path, err);
    if (!status) status = resize_pages(&pages, pages.count, path, err);
    archive_read_free(reader);
    if (status) {
        if (pages.bytes) munmap(pages.bytes, pages.mapped);
        return status;
    }
    *bytes = pages.bytes;
    *count = (int64_t)pages.count;
    *mapped = (int64_t)pages.mapped;
    return LATHE_OK;
}

/* ---- streams ---- */

struct archive_stream {
    char *path;
    int fd;
    int is_tar, is_at_end;
    enum compression compression;
    struct archive *reader; /* NULL: nothing was asked for yet */
};

lathe_status archive_stream_open(const char *path, struct archive_stream **stream,
                                 struct error *err) {
    struct archive_stream *opened = calloc(1, sizeof *opened);
    if (!opened) return fail(err, LATHE_ENOMEM, "%s: out of memory", path);
    opened->path = text_copy(path);
    lathe_status status = opened->path
                              ? file_open(path, &opened->fd, NULL, err)
                              : fail(err, LATHE_ENOMEM, "%s: out of memory", path);
    if (status) {
        free(opened->path);
        free(opened);
        return status;
    }
    *stream = opened;
    return LATHE_OK;
}

static lathe_status restart(struct archive_stream *stream, int is_tar,
                            struct error *err) {
    archive_read_free(stream->reader);
    stream->reader = NULL;
    stream->is_at_end = 0;
    stream->is_tar = is_tar;
    return archive_begin(stream->fd, stream->path, is_tar, &stream->compression,
                         &stream->reader, err);
}

/* pathname is NULL where the name does not fit the locale, which is not ours to
 * change. */
static const char *member_name(struct archive_entry *entry) {
    const char *name = archive_entry_pathname(entry);
    return name ? name : archive_entry_pathname_utf8(entry);
}

lathe_status archive_stream_next(struct archive_stream *stream, const char **name,
                                 struct error *err) {
    if (!stream->reader || !stream->is_tar) {
        lathe_status status = restart(stream, 1, err);
        if (status) return status;
    }
    if (stream->is_at_end) return LATHE_END;
    for (;;) {
        struct archive_entry *entry;
        int result = archive_read_next_header(stream->reader, &entry);
        if (result == ARCHIVE_EOF) {
            stream->is_at_end = 1;
            return LATHE_END;
        }
        if (result < ARCHIVE_WARN)
            return archive_fail(stream->reader, stream->compression, stream->path, err);
        if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry))
            continue;
        *name = member_name(entry);
        if (*name) return LATHE_OK;
        return fail(err, LATHE_EDATA, "%s: a member's name is not UTF-8", stream->path);
    }
}

lathe_status archive_stream_read(struct archive_stream *stream, void *bytes,
                                 int64_t count, int64_t *got, struct error *err) {
    *got = 0;
    if (!stream->reader) {
        lathe_status status = restart(stream, 0, err);
        if (!status)
            status =
                archive_enter(stream->reader, stream->compression, stream->path, err);
        if (status < 0) return status;
        stream->is_at_end = status == LATHE_END;
    }
    if (stream->is_at_end || count <= 0) return LATHE_OK;
    la_ssize_t size = archive_read_data(stream->reader, bytes, (size_t)count);
    if (size < 0)
        return archive_fail(stream->reader, stream->compression, stream->path, err);
    *got = size;
    return LATHE_OK;
}

void archive_stream_close(struct archive_stream *stream) {
    if (!stream) return;
    archive_read_free(stream->reader);
    close(stream->fd);
    free(stream->path);
    free(stream);
}
