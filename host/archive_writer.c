/* SPDX-License-Identifier: MIT */
/* Nothing of a member but its name, its size and its bytes goes in, and how it is laid
 * out and compressed is fixed here: no clock, user, locale or machine has a part. */
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "archive_parts.h"
#include "archive_tar.h"
#include "base/text.h"

#define BLOCK_BYTES 131072
#define TAR_SIZE_MAX (((int64_t)1 << 33) - 1) /* eleven octal digits */

struct archive_writer {
    char *path;
    struct archive *archive;
    int64_t unwritten; /* of the member that was begun */
};

static lathe_status fail_writing(const struct archive_writer *writer,
                                 struct error *err) {
    const int number = archive_errno(writer->archive);
    const char *text = number > 0 ? strerror(number) /* libarchive: "Write error" */
                                  : archive_error_string(writer->archive);
    return fail(err, number == ENOMEM ? LATHE_ENOMEM : LATHE_EIO,
                "cannot write \"%.400s\": %s", writer->path,
                text ? text : "no reason given");
}

static bool set_up(struct archive *archive) {
    static const char level[] = "3";
    return archive_write_set_format_ustar(archive) == ARCHIVE_OK &&
           archive_write_add_filter_zstd(archive) == ARCHIVE_OK &&
           archive_write_set_filter_option(archive, "zstd", "compression-level",
                                           level) == ARCHIVE_OK &&
           archive_write_set_bytes_per_block(archive, BLOCK_BYTES) == ARCHIVE_OK &&
           archive_write_set_bytes_in_last_block(archive, 1) == ARCHIVE_OK;
}

lathe_status archive_writer_create(int fd, const char *path,
                                   struct archive_writer **writer, struct error *err) {
    struct archive_writer *made = calloc(1, sizeof *made);
    if (made) made->path = text_copy(path);
    if (made) made->archive = archive_write_new();
    lathe_status status = LATHE_OK;
    if (!made || !made->path || !made->archive)
        status = fail(err, LATHE_ENOMEM, "%s: out of memory", path);
    else if (!set_up(made->archive))
        status =
            fail(err, LATHE_EINVAL, "%s: this libarchive writes no tar in zstd", path);
    else if (archive_write_open_fd(made->archive, fd) != ARCHIVE_OK)
        status = fail_writing(made, err);
    if (status)
        archive_writer_destroy(made);
    else
        *writer = made;
    return status;
}

lathe_status archive_writer_begin(struct archive_writer *writer, const char *name,
                                  int64_t size, struct error *err) {
    lathe_status status = archive_check_name(name, err);
    if (status) return err ? err->status = LATHE_EINVAL : LATHE_EINVAL;
    if (size > TAR_SIZE_MAX)
        return fail(err, LATHE_EINVAL, "\"%.200s\" has 8 GiB or more", name);
    struct archive_entry *entry = archive_entry_new();
    if (!entry) return fail(err, LATHE_ENOMEM, "%s: out of memory", writer->path);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, size);
    archive_entry_set_mode(entry, AE_IFREG | 0644);
    archive_entry_set_mtime(entry, 0, 0);
    if (archive_write_header(writer->archive, entry) != ARCHIVE_OK)
        status = fail_writing(writer, err);
    archive_entry_free(entry);
    writer->unwritten = size;
    return status;
}

/* As a reader will look at it, wherever it has come to. */
static lathe_status check_ratio(const struct archive_writer *writer,
                                struct error *err) {
    const int64_t inflated = archive_filter_bytes(writer->archive, 0);
    const int64_t packed = archive_filter_bytes(writer->archive, -1);
    if (inflated <= ARCHIVE_RATIO_FROM || inflated / ARCHIVE_RATIO_MAX <= packed)
        return LATHE_OK;
    return fail(err, LATHE_EINVAL,
                "it would inflate to more than %d times its size, which no reader "
                "accepts",
                ARCHIVE_RATIO_MAX);
}

lathe_status archive_writer_add(struct archive_writer *writer, const void *bytes,
                                size_t count, struct error *err) {
    const char *from = bytes;
    if ((int64_t)count > writer->unwritten)
        return fail(err, LATHE_EINVAL, "more bytes come than were announced");
    while (count) {
        const la_ssize_t took = archive_write_data(writer->archive, from, count);
        if (took <= 0) return fail_writing(writer, err);
        from += took;
        count -= (size_t)took;
        writer->unwritten -= took;
    }
    return check_ratio(writer, err);
}

lathe_status archive_writer_finish(struct archive_writer *writer, struct error *err) {
    if (writer->unwritten)
        return fail(err, LATHE_EINVAL, "fewer bytes came than were announced");
    if (archive_write_close(writer->archive) != ARCHIVE_OK)
        return fail_writing(writer, err);
    return check_ratio(writer, err);
}

void archive_writer_destroy(struct archive_writer *writer) {
    if (!writer) return;
    if (writer->archive) archive_write_free(writer->archive);
    free(writer->path);
    free(writer);
}
