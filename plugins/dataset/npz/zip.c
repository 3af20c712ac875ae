/* SPDX-License-Identifier: MIT */
#include "zip.h"

#include <string.h>

enum { END_LENGTH = 22, LOCATOR_LENGTH = 20, END64_LENGTH = 56 };
enum { ENTRY_LENGTH = 46, HEADER_LENGTH = 30, COMMENT_MAX = 65535 };

static const char torn[] = "its directory points outside of the file";

static uint32_t u16(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static uint32_t u32(const unsigned char *at) {
    return u16(at) | u16(at + 2) << 16;
}

/* What is no file's size becomes -1. */
static int64_t u64(const unsigned char *at) {
    uint64_t value = (uint64_t)u32(at + 4) << 32 | u32(at);
    return value > INT64_MAX ? -1 : (int64_t)value;
}

static int is_marked(const unsigned char *at, const char *mark) {
    return !memcmp(at, "PK", 2) && !memcmp(at + 2, mark, 2);
}

/* Do `length` bytes at `offset` lie within `limit`? */
static int is_inside(int64_t offset, int64_t length, int64_t limit) {
    return offset >= 0 && length >= 0 && offset <= limit && length <= limit - offset;
}

/* ---- the directory ---- */

/* The end record: the last one whose comment reaches to the end of the file. -1:
 * none. */
static int64_t find_end(const unsigned char *bytes, int64_t count) {
    int64_t least = count - END_LENGTH - COMMENT_MAX;
    for (int64_t at = count - END_LENGTH; at >= 0 && at >= least; at--)
        if (is_marked(bytes + at, "\5\6") &&
            u16(bytes + at + 20) == (uint64_t)(count - END_LENGTH - at))
            return at;
    return -1;
}

/* Archives of 4 GiB and more have a wider end record before the other one. */
static const char *read_end64(struct zip *zip, int64_t end) {
    int64_t locator = end - LOCATOR_LENGTH;
    if (locator < 0 || !is_marked(zip->bytes + locator, "\6\7")) return NULL;
    int64_t at = u64(zip->bytes + locator + 8);
    if (!is_inside(at, END64_LENGTH, locator) || !is_marked(zip->bytes + at, "\6\6"))
        return torn;
    const unsigned char *record = zip->bytes + at;
    int64_t length = u64(record + 40);
    zip->members = u64(record + 32);
    zip->directory = u64(record + 48);
    if (!is_inside(zip->directory, length, at)) return torn;
    zip->directory_end = zip->directory + length;
    return NULL;
}

const char *zip_open(struct zip *zip, const void *bytes, int64_t count) {
    *zip = (struct zip){.bytes = bytes, .count = count};
    int64_t at = find_end(zip->bytes, count);
    if (at < 0) return "it is no zip archive, or is cut short";
    const unsigned char *end = zip->bytes + at;
    zip->members = u16(end + 10);
    zip->directory = u32(end + 16);
    if (zip->members == 0xFFFF || zip->directory == 0xFFFFFFFF ||
        u32(end + 12) == 0xFFFFFFFF)
        return read_end64(zip, at);
    if (!is_inside(zip->directory, u32(end + 12), at)) return torn;
    zip->directory_end = zip->directory + u32(end + 12);
    return NULL;
}

/* Sizes that do not fit their 32 bits stand in an extra field, in this order. */
static const char *read_extra(const unsigned char *extra, int64_t length,
                              struct zip_member *member) {
    int64_t *const wide[] = {&member->size, &member->stored, &member->offset};
    for (int64_t at = 0; at + 4 <= length;) {
        int64_t left = u16(extra + at + 2), id = u16(extra + at);
        at += 4;
        if (left > length - at) return torn;
        if (id != 1) {
            at += left;
            continue;
        }
        for (int i = 0; i < 3; i++) {
            if (*wide[i] != 0xFFFFFFFF) continue;
            if (left < 8) return torn;
            *wide[i] = u64(extra + at);
            at += 8;
            left -= 8;
        }
        return NULL;
    }
    return NULL;
}

const char *zip_next(const struct zip *zip, int64_t *place, struct zip_member *member) {
    const unsigned char *entry = zip->bytes + *place;
    if (!is_inside(*place, ENTRY_LENGTH, zip->directory_end) ||
        !is_marked(entry, "\1\2"))
        return "its directory is damaged";
    int64_t name = u16(entry + 28), extra = u16(entry + 30), comment = u16(entry + 32);
    if (!is_inside(*place + ENTRY_LENGTH, name + extra + comment, zip->directory_end))
        return "its directory is damaged";
    *member = (struct zip_member){.name = entry + ENTRY_LENGTH,
                                  .name_length = (int)name,
                                  .method = (int)u16(entry + 10),
                                  .is_encrypted = (int)(u16(entry + 8) & 1),
                                  .crc = u32(entry + 16),
                                  .stored = u32(entry + 20),
                                  .size = u32(entry + 24),
                                  .offset = u32(entry + 42)};
    *place += ENTRY_LENGTH + name + extra + comment;
    return read_extra(entry + ENTRY_LENGTH + name, extra, member);
}

/* ---- a member ---- */

/* CRC-32 of ISO 3309, reflected. */
static uint32_t sum_of(const unsigned char *bytes, int64_t count) {
    uint32_t table[256], crc = 0xFFFFFFFF;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320u : 0);
    }
    for (int64_t i = 0; i < count; i++) crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xFF];
    return ~crc;
}

const char *zip_content(const struct zip *zip, const struct zip_member *member,
                        const unsigned char **content) {
    if (!is_inside(member->offset, HEADER_LENGTH, zip->directory)) return torn;
    const unsigned char *header = zip->bytes + member->offset;
    if (!is_marked(header, "\3\4")) return "a member has no header of its own";
    int64_t skipped = HEADER_LENGTH + (int64_t)u16(header + 26) + u16(header + 28);
    if (!is_inside(member->offset, skipped, zip->directory) ||
        !is_inside(member->offset + skipped, member->stored, zip->directory))
        return torn;
    if (member->size != member->stored) return "a stored member has two sizes";
    if (sum_of(header + skipped, member->size) != member->crc)
        return "the sum of a member is not what its directory says";
    *content = header + skipped;
    return NULL;
}
