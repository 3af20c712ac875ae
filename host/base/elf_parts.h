/* SPDX-License-Identifier: MIT */
/* What elf.c, which checks a shared object, and elf_note.c, elf_object.c and
 * elf_versions.c, which read what is in it, share. */
#ifndef HOST_BASE_ELF_PARTS_H
#define HOST_BASE_ELF_PARTS_H

#include <elf.h>
#include <stdbool.h>

#include "elf.h"

#define ELF_SEGMENTS_MAX 128

struct elf {
    int fd;
    uint64_t size;
    int segment_count;
    Elf64_Phdr segments[ELF_SEGMENTS_MAX];
    Elf64_Dyn *entries; /* of the dynamic section, without its end */
    uint64_t entry_count;
    uint64_t strings, strings_size; /* the dynamic string table, in the file */
};

/* Fills in the segments of fd and size, checked. */
lathe_status elf_read_segments(struct elf *elf, struct error *err);
/* Fills in the rest, the segments being there; the entries are the caller's to free. */
lathe_status elf_read_dynamic(struct elf *elf, struct error *err);
/* Where in the file are the `count` bytes that will be at `address`? */
bool elf_locate(const struct elf *elf, uint64_t address, uint64_t count,
                uint64_t *offset);
/* Of the first entry with this tag; 0: none. */
uint64_t elf_value(const struct elf *elf, int64_t tag);
lathe_status elf_read_at(const struct elf *elf, uint64_t offset, void *bytes,
                         uint64_t count, struct error *err);

#endif
