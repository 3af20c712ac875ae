/* SPDX-License-Identifier: MIT */
/* Members of a zip archive in memory, as numpy.savez writes it: stored, not compressed,
 * and so found where they lie. Not a general reader of zip (APPNOTE 6.3.10): no
 * compression, no encryption, one disk. */
#ifndef NPZ_ZIP_H
#define NPZ_ZIP_H

#include <stddef.h>
#include <stdint.h>

struct zip {
    const unsigned char *bytes;
    int64_t count;
    int64_t directory, directory_end, members;
};

struct zip_member {
    const unsigned char *name; /* not ended by NUL */
    int name_length;
    int method; /* 0: stored */
    int is_encrypted;
    uint32_t crc;
    int64_t size, stored; /* bytes as they were, and as they lie here */
    int64_t offset;       /* of its own header */
};

/* Finds the directory of bytes[count], which must last as long as *zip. These return
 * NULL, or what is wrong, a static text. */
const char *zip_open(struct zip *zip, const void *bytes, int64_t count);
/* The member that stands at *place, from zip->directory to directory_end; moves on. */
const char *zip_next(const struct zip *zip, int64_t *place, struct zip_member *member);
/* The content of a stored member, whose sum is checked. */
const char *zip_content(const struct zip *zip, const struct zip_member *member,
                        const unsigned char **content);

#endif
