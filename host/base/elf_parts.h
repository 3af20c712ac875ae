/* SPDX-License-Identifier: MIT */
/* What elf.c, which checks a shared object, and elf_note.c, which reads a note of it,
 * share. */
#ifndef HOST_BASE_ELF_PARTS_H
#define HOST_BASE_ELF_PARTS_H

#include <elf.h>

#include "elf.h"

#define ELF_SEGMENTS_MAX 128

struct elf {
    int fd;
    uint64_t size;
    int segment_count;
    Elf64_Phdr segments[ELF_SEGMENTS_MAX];
    uint64_t strings, strings_size; /* the dynamic string table, in the file */
};

/* Fills in the segments of fd and size, checked. */
lathe_status elf_read_segments(struct elf *elf, struct error *err);
lathe_status elf_read_at(const struct elf *elf, uint64_t offset, void *bytes,
                         uint64_t count, struct error *err);

#endif
