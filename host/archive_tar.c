/* SPDX-License-Identifier: MIT */
#include "archive_tar.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive_parts.h"
#include "base/file.h"
#include "base/text.h"

#define BLOCK 512
#define PADDING_MAX 65536 /* zeros behind the end: of the blocks that tar writes in */

/* Of a POSIX.1-1988 header. */
enum {
    AT_NAME = 0,
    AT_MODE = 100,
    AT_SIZE = 124,
    AT_SUM = 148,
    AT_TYPE = 156,
    AT_LINK = 157,
    AT_MAGIC = 257,
    AT_PREFIX = 345,
    AT_END = 500
};

struct archive_tar {
    char *path;
    int fd;
    int64_t file_size;
    enum compression compression;
    struct archive *reader;
    const char *bytes; /* inflated, not yet taken; the reader's */
    size_t left;
    int64_t inflated;
    bool is_over; /* nothing more inflates */
    struct archive_member member;
    int64_t unread, padding; /* of the member; behind it, up to a whole block */
    int member_count;
};

/* ---- names ---- */

lathe_status archive_check_name(const char *name, struct error *err) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    int depth = 0;
    if (strlen(name) > ARCHIVE_NAME_MAX)
        return fail(err, LATHE_EDATA, "the name \"%.60s…\" has more than %d bytes",
                    name, ARCHIVE_NAME_MAX);
    for (const char *part = name;; part++) {
        const size_t length = strspn(part, letters);
        if (part[length] && part[length] != '/')
            return fail(err, LATHE_EDATA,
                        "the name \"%.200s\" has letters other than A-Z a-z 0-9 . _ -",
                        name);
        if (length == 0 || *part == '.')
            return fail(err, LATHE_EDATA, "\"%.200s\" is no name for a file%s", name,
                        *name == '/' ? ": it is absolute" : "");
        if (length > ARCHIVE_PART_MAX || ++depth > ARCHIVE_DEPTH_MAX)
            return fail(err, LATHE_EDATA, "the name \"%.200s\" is too %s", name,
                        length > ARCHIVE_PART_MAX ? "long" : "deep");
        part += length;
        if (!*part) return LATHE_OK;
    }
}

/* ---- bytes ---- */

__attribute__((format(printf, 3, 4))) static lathe_status refuse(
    const struct archive_tar *tar, struct error *err, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_list(err, LATHE_EDATA, format, arguments);
    va_end(arguments);
    error_where(err, "%s", tar->path);
    return LATHE_EDATA;
}

lathe_status archive_tar_open(const char *path, struct archive_tar **tar,
                              struct error *err) {
    struct archive_tar *opened = calloc(1, sizeof *opened);
    if (!opened) return fail(err, LATHE_ENOMEM, "%s: out of memory", path);
    opened->fd = -1;
    opened->path = text_copy(path);
    lathe_status status = opened->path
                              ? file_open(path, &opened->fd, &opened->file_size, err)
                              : fail(err, LATHE_ENOMEM, "%s: out of memory", path);
    if (!status)
        status = archive_begin(opened->fd, path, 0, &opened->compression,
                               &opened->reader, err);
    if (!status) status = archive_enter(opened->reader, opened->compression, path, err);
    opened->is_over = status == LATHE_END;
    if (status < 0)
        archive_tar_close(opened);
    else
        *tar = opened;
    return status < 0 ? status : LATHE_OK;
}

/* Has it all been taken in? What gzip leaves behind its end goes unread otherwise. */
static lathe_status check_rest(struct archive_tar *tar, struct error *err) {
    const int64_t taken = archive_filter_bytes(tar->reader, -1);
    if (taken >= tar->file_size) return LATHE_OK;
    return refuse(tar, err, "something follows the end of the archive");
}

/* Has some bytes ready, unless it is over. */
static lathe_status refill(struct archive_tar *tar, struct error *err) {
    la_int64_t offset;
    while (!tar->left && !tar->is_over) {
        const void *bytes = NULL;
        int result = archive_read_data_block(tar->reader, &bytes, &tar->left, &offset);
        tar->bytes = bytes;
        tar->is_over = result == ARCHIVE_EOF;
        if (tar->is_over) tar->left = 0;
        if (result != ARCHIVE_OK && !tar->is_over) {
            tar->left = 0;
            return archive_fail(tar->reader, tar->compression, tar->path, err);
        }
        tar->inflated += (int64_t)tar->left;
        const int64_t taken = archive_filter_bytes(tar->reader, -1);
        if (tar->inflated > ARCHIVE_RATIO_FROM &&
            tar->inflated / ARCHIVE_RATIO_MAX > taken)
            return refuse(tar, err, "it inflates to more than %d times its size",
                          ARCHIVE_RATIO_MAX);
    }
    return tar->is_over ? check_rest(tar, err) : LATHE_OK;
}

static lathe_status take(struct archive_tar *tar, size_t most, const void **bytes,
                         size_t *count, struct error *err) {
    lathe_status status = refill(tar, err);
    *bytes = tar->bytes;
    *count = 0;
    if (status || !tar->left) return status;
    *count = tar->left < most ? tar->left : most;
    tar->bytes += *count;
    tar->left -= *count;
    return LATHE_OK;
}

/* A whole block. LATHE_END: there is not one byte more. */
static lathe_status take_block(struct archive_tar *tar, char block[BLOCK],
                               struct error *err) {
    size_t have = 0;
    while (have < BLOCK) {
        const void *bytes;
        size_t count;
        lathe_status status = take(tar, BLOCK - have, &bytes, &count, err);
        if (status) return status;
        if (!count) break;
        memcpy(block + have, bytes, count);
        have += count;
    }
    if (have == BLOCK) return LATHE_OK;
    return have ? refuse(tar, err, "the archive is cut short") : LATHE_END;
}

/* ---- headers ---- */

static bool is_zero(const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i]) return false;
    return true;
}

/* Octal digits, then blanks or NULs; -1: it is not so. */
static int64_t read_octal(const char *field, size_t count) {
    int64_t value = 0;
    size_t i = 0, digits = 0;
    while (i < count && field[i] == ' ') i++;
    for (; i < count && field[i] >= '0' && field[i] <= '7'; i++, digits++)
        value = value * 8 + (field[i] - '0');
    for (; i < count; i++)
        if (field[i] && field[i] != ' ') return -1;
    return digits && digits <= 12 ? value : -1;
}

static bool has_sum(const char block[BLOCK]) {
    int64_t sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= AT_SUM && i < AT_TYPE ? ' ' : (unsigned char)block[i];
    return read_octal(block + AT_SUM, AT_TYPE - AT_SUM) == sum;
}

static const char *name_type(char type) {
    static const struct {
        char type;
        const char *name;
    } types[] = {{'1', "a hard link"},
                 {'2', "a symbolic link"},
                 {'3', "a device"},
                 {'4', "a device"},
                 {'5', "a directory"},
                 {'6', "a FIFO"},
                 {'7', "a file of another kind"},
                 {'x', "a pax header, which changes the file that follows"},
                 {'g', "a pax header, which changes all files that follow"},
                 {'L', "a GNU long name"},
                 {'K', "a GNU long link"},
                 {'S', "a file with holes"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type) return types[i].name;
    return "an entry of an unknown type";
}

/* A field that its length may end, or a NUL with nothing after it: "a\0b" would be two
 * names. *name has room. */
static bool add_field(const char *field, size_t count, char *name, size_t *length) {
    const size_t used = strnlen(field, count);
    memcpy(name + *length, field, used);
    *length += used;
    return is_zero(field + used, count - used);
}

static lathe_status read_name(struct archive_tar *tar, const char block[BLOCK],
                              struct error *err) {
    char name[AT_END - AT_PREFIX + AT_MODE + 2];
    size_t length = 0;
    const bool is_posix = !memcmp(block + AT_MAGIC,
                                  "ustar\0"
                                  "00",
                                  8);
    bool is_sound = is_posix || !memcmp(block + AT_MAGIC, "ustar  ", 8);
    if (!is_sound) return refuse(tar, err, "it is no tar file of POSIX");
    if (block[AT_PREFIX] && is_posix) {
        is_sound = add_field(block + AT_PREFIX, AT_END - AT_PREFIX, name, &length);
        name[length++] = '/';
    }
    is_sound = add_field(block + AT_NAME, AT_MODE, name, &length) && is_sound;
    name[length] = '\0';
    lathe_status status = archive_check_name(name, err);
    if (status)
        error_where(err, "%s", tar->path);
    else if (!is_sound)
        status = refuse(tar, err, "the name \"%s\" goes on behind its end", name);
    else
        memcpy(tar->member.name, name, length + 1);
    return status;
}

static lathe_status read_header(struct archive_tar *tar, const char block[BLOCK],
                                struct error *err) {
    const int64_t mode = read_octal(block + AT_MODE, 8);
    const int64_t size = read_octal(block + AT_SIZE, 12);
    const char type = block[AT_TYPE];
    if (!has_sum(block))
        return refuse(tar, err,
                      "it is no tar file, or damaged: member %d has another "
                      "checksum than its header says",
                      tar->member_count + 1);
    if (++tar->member_count > ARCHIVE_MEMBERS_MAX)
        return refuse(tar, err, "it holds more than %d files", ARCHIVE_MEMBERS_MAX);
    if (type && type != '0') {
        char shown[AT_MODE + 1] = {0};
        memcpy(shown, block, AT_MODE);
        return refuse(tar, err, "\"%s\" is %s; only regular files are taken", shown,
                      name_type(type));
    }
    lathe_status status = read_name(tar, block, err);
    if (status) return status;
    if (!is_zero(block + AT_LINK, AT_MAGIC - AT_LINK))
        return refuse(tar, err, "\"%s\" is a link; only regular files are taken",
                      tar->member.name);
    if (mode < 0 || mode & 07000)
        return refuse(tar, err,
                      "\"%s\" has mode %05llo: set-user-id, set-group-id and "
                      "sticky bits are refused",
                      tar->member.name, (unsigned long long)(mode < 0 ? 0 : mode));
    if (size < 0)
        return refuse(tar, err, "the size of \"%s\" makes no sense", tar->member.name);
    tar->member.size = tar->unread = size;
    tar->padding = -size & (BLOCK - 1);
    return LATHE_OK;
}

/* ---- members ---- */

lathe_status archive_tar_read(struct archive_tar *tar, const void **bytes,
                              size_t *count, struct error *err) {
    *count = 0;
    if (!tar->unread) return LATHE_OK;
    const size_t most = tar->unread > INT32_MAX ? INT32_MAX : (size_t)tar->unread;
    lathe_status status = take(tar, most, bytes, count, err);
    tar->unread -= (int64_t)*count;
    if (status || *count) return status;
    return refuse(tar, err, "the archive is cut short within \"%s\"", tar->member.name);
}

static lathe_status skip_rest(struct archive_tar *tar, struct error *err) {
    const void *bytes;
    size_t count = 1;
    lathe_status status = LATHE_OK;
    while (!status && count) status = archive_tar_read(tar, &bytes, &count, err);
    while (!status && tar->padding) {
        status = take(tar, (size_t)tar->padding, &bytes, &count, err);
        if (!status && !count) return refuse(tar, err, "the archive is cut short");
        if (!status && !is_zero(bytes, count))
            return refuse(tar, err, "something stands between \"%s\" and what follows",
                          tar->member.name);
        tar->padding -= (int64_t)count;
    }
    return status;
}

/* Behind a block of zeros: another, and no more than fills what tar writes at once. */
static lathe_status check_end(struct archive_tar *tar, struct error *err) {
    int64_t zeros = BLOCK;
    size_t count = 1;
    while (count) {
        const void *bytes;
        lathe_status status = take(tar, PADDING_MAX, &bytes, &count, err);
        if (status) return status;
        zeros += (int64_t)count;
        if (!is_zero(bytes, count) || zeros > PADDING_MAX)
            return refuse(tar, err, "something follows the end of the archive");
    }
    if (zeros >= 2 * (int64_t)BLOCK) return LATHE_END;
    return refuse(tar, err, "the archive is cut short at its end");
}

lathe_status archive_tar_next(struct archive_tar *tar,
                              const struct archive_member **member, struct error *err) {
    char block[BLOCK];
    *member = NULL;
    lathe_status status = skip_rest(tar, err);
    if (!status) status = take_block(tar, block, err);
    if (status == LATHE_END)
        return refuse(tar, err,
                      tar->member_count ? "the archive is cut short"
                                        : "the file is empty");
    if (status) return status;
    if (is_zero(block, BLOCK)) return check_end(tar, err);
    status = read_header(tar, block, err);
    if (!status) *member = &tar->member;
    return status;
}

void archive_tar_close(struct archive_tar *tar) {
    if (!tar) return;
    if (tar->reader) archive_read_free(tar->reader);
    if (tar->fd >= 0) close(tar->fd);
    free(tar->path);
    free(tar);
}
