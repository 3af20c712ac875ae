/* SPDX-License-Identifier: MIT */
/* What a shared object needs of others and offers to them, read as data. The file has
 * passed elf_check. */
#ifndef HOST_BASE_ELF_OBJECT_H
#define HOST_BASE_ELF_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* A name that others can find in it. */
struct elf_export {
    const char *name;
    bool is_unique; /* one in the whole process, whoever brings it (STB_GNU_UNIQUE) */
    bool is_weak;
    uint64_t address, size;
};

/* Strings are the object's. */
struct elf_object {
    const char **needed;   /* libraries, NULL-ended */
    const char *search;    /* where they are looked for, "a:b"; "" */
    bool is_searched_last; /* after $LD_LIBRARY_PATH (RUNPATH), not before (RPATH) */
    bool is_symbolic;      /* finds its own names in itself first (-Bsymbolic) */
    struct elf_export *exports;
    size_t export_count;
    const char **wanted; /* names that it takes from others, NULL-ended */
    char *strings;
};

/* Fills in *object, for elf_object_finish, also after a failure; exports and wanted
 * names only where they are asked for: there may be thousands. */
lathe_status elf_object_read(int fd, int64_t size, bool has_symbols,
                             struct elf_object *object, struct error *err);
void elf_object_finish(struct elf_object *object);
/* The `count` bytes that will be at `address`, as they are in the file. */
lathe_status elf_bytes(int fd, int64_t size, uint64_t address, void *bytes,
                       size_t count, struct error *err);
/* The newest version of glibc that it asks for: {2, 34}; {0, 0}: none. */
lathe_status elf_glibc(int fd, int64_t size, unsigned version[2], struct error *err);

#endif
