/* SPDX-License-Identifier: MIT */
#include "elf_parts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#elif defined(__riscv)
#define MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define MACHINE EM_PPC64
#else
#error "name this machine's ELF number here"
#endif

#define ENTRIES_MAX 4096
#define STRING_MAX 4096

/* Every refusal but those of the system's. */
#define refuse(err, ...) fail(err, LATHE_EMISSING, __VA_ARGS__)

static const char *name_machine(unsigned machine) {
    static const char *const names[] = {
        [EM_386] = "i386",        [EM_X86_64] = "x86-64", [EM_ARM] = "arm",
        [EM_AARCH64] = "aarch64", [EM_RISCV] = "riscv",   [EM_PPC64] = "ppc64",
        [EM_S390] = "s390"};
    bool is_known = machine < sizeof names / sizeof *names && names[machine];
    return is_known ? names[machine] : "another machine";
}

/* Is [offset, offset + count) inside the file? */
static bool is_inside(const struct elf *elf, uint64_t offset, uint64_t count) {
    return offset <= elf->size && count <= elf->size - offset;
}

lathe_status elf_read_at(const struct elf *elf, uint64_t offset, void *bytes,
                         uint64_t count, struct error *err) {
    ssize_t got = pread(elf->fd, bytes, count, (off_t)offset);
    if (got < 0) return fail(err, LATHE_EIO, "it cannot be read: %s", strerror(errno));
    if ((uint64_t)got == count) return LATHE_OK;
    return refuse(err, "it became shorter while it was looked at");
}

static lathe_status check_ident(const unsigned char *ident, struct error *err) {
    if (memcmp(ident, ELFMAG, SELFMAG) != 0)
        return refuse(err,
                      "it is not a shared object: it starts with %02x %02x %02x %02x, "
                      "not with 7f 45 4c 46",
                      ident[0], ident[1], ident[2], ident[3]);
    if (ident[EI_CLASS] != ELFCLASS64)
        return refuse(err, "it is a %s-bit file, this program is 64-bit",
                      ident[EI_CLASS] == ELFCLASS32 ? "32" : "strange");
    if (ident[EI_DATA] != ELFDATA2LSB)
        return refuse(err, "it is for a big-endian machine, this one is little-endian");
    return LATHE_OK;
}

static lathe_status read_header(const struct elf *elf, Elf64_Ehdr *header,
                                struct error *err) {
    if (elf->size == 0) return refuse(err, "it is empty");
    if (elf->size < sizeof *header)
        return refuse(err, "it is not a shared object: it has only %llu bytes",
                      (unsigned long long)elf->size);
    lathe_status status = elf_read_at(elf, 0, header, sizeof *header, err);
    if (!status) status = check_ident(header->e_ident, err);
    if (status) return status;
    if (header->e_machine != MACHINE)
        return refuse(err, "it is for %s (ELF machine %u), this is %s",
                      name_machine(header->e_machine), header->e_machine,
                      name_machine(MACHINE));
    if (header->e_type != ET_DYN)
        return refuse(err, "it is %s, not a shared object: link it with -shared",
                      header->e_type == ET_REL    ? "an object file"
                      : header->e_type == ET_EXEC ? "a program"
                                                  : "an ELF file of another type");
    return LATHE_OK;
}

/* Everything that the loader would map must be in the file, or touching it is a
 * SIGBUS. */
static lathe_status check_segments(const struct elf *elf, struct error *err) {
    uint64_t end = 0, next = 0;
    int load_count = 0;
    for (int i = 0; i < elf->segment_count; i++) {
        const Elf64_Phdr *segment = &elf->segments[i];
        if (segment->p_type != PT_LOAD) continue;
        if (segment->p_offset > UINT64_MAX - segment->p_filesz ||
            segment->p_vaddr > UINT64_MAX - segment->p_memsz ||
            segment->p_filesz > segment->p_memsz || segment->p_vaddr < next)
            return refuse(err, "it is damaged: program header %d makes no sense", i);
        next = segment->p_vaddr + segment->p_memsz;
        if (segment->p_offset + segment->p_filesz > end)
            end = segment->p_offset + segment->p_filesz;
        load_count++;
    }
    if (load_count == 0) return refuse(err, "it is damaged: it has nothing to load");
    if (end > elf->size)
        return refuse(err,
                      "the file is shorter than its program headers say: it has %llu "
                      "bytes of %llu",
                      (unsigned long long)elf->size, (unsigned long long)end);
    return LATHE_OK;
}

lathe_status elf_read_segments(struct elf *elf, struct error *err) {
    Elf64_Ehdr header;
    lathe_status status = read_header(elf, &header, err);
    if (status) return status;
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
        header.e_phnum > ELF_SEGMENTS_MAX)
        return refuse(err,
                      "it is damaged: %u program headers of %u bytes (1 to %d of %zu "
                      "are allowed)",
                      header.e_phnum, header.e_phentsize, ELF_SEGMENTS_MAX,
                      sizeof(Elf64_Phdr));
    uint64_t bytes = (uint64_t)header.e_phnum * sizeof(Elf64_Phdr);
    if (!is_inside(elf, header.e_phoff, bytes))
        return refuse(err,
                      "the file is shorter than its program headers: it has %llu bytes",
                      (unsigned long long)elf->size);
    status = elf_read_at(elf, header.e_phoff, elf->segments, bytes, err);
    if (status) return status;
    elf->segment_count = header.e_phnum;
    return check_segments(elf, err);
}

/* Where in the file are the `count` bytes that will be at `address`? */
static bool locate(const struct elf *elf, uint64_t address, uint64_t count,
                   uint64_t *offset) {
    for (int i = 0; i < elf->segment_count; i++) {
        const Elf64_Phdr *segment = &elf->segments[i];
        if (segment->p_type != PT_LOAD || address < segment->p_vaddr) continue;
        uint64_t skip = address - segment->p_vaddr;
        if (skip > segment->p_filesz || count > segment->p_filesz - skip) continue;
        *offset = segment->p_offset + skip;
        return true;
    }
    return false;
}

static lathe_status read_string(const struct elf *elf, uint64_t index,
                                char string[STRING_MAX], struct error *err) {
    if (index >= elf->strings_size)
        return refuse(err, "it is damaged: a name lies outside of its string table");
    uint64_t count = elf->strings_size - index;
    if (count > STRING_MAX) count = STRING_MAX;
    lathe_status status = elf_read_at(elf, elf->strings + index, string, count, err);
    if (status == LATHE_OK && memchr(string, 0, count) == NULL)
        return refuse(err, "it is damaged: a name in its string table has no end");
    return status;
}

static bool mentions_origin(const char *string) {
    return strstr(string, "$ORIGIN") != NULL || strstr(string, "${ORIGIN}") != NULL;
}

static lathe_status check_needed(const char *library, struct error *err) {
    bool is_relative = library[0] != '/' && strchr(library, '/') != NULL;
    if (!is_relative && !mentions_origin(library)) return LATHE_OK;
    refuse(err,
           "it needs \"%s\", a place relative to the file or to the current directory",
           library);
    error_help(err,
               "link that library statically, or install it where the system looks");
    return LATHE_EMISSING;
}

/* Changes `places`. An empty element means the current directory to the loader. */
static lathe_status check_search_path(char *places, struct error *err) {
    if (places[0] == '\0') return LATHE_OK;
    for (char *place; (place = strsep(&places, ":")) != NULL;) {
        if (place[0] == '/' && !mentions_origin(place)) continue;
        refuse(err,
               "it looks for libraries in \"%s\" (RPATH), a place relative to the file "
               "or to the current directory",
               place);
        error_help(err, "link it without -rpath, or with absolute directories only");
        return LATHE_EMISSING;
    }
    return LATHE_OK;
}

static lathe_status check_entry(const struct elf *elf, const Elf64_Dyn *entry,
                                struct error *err) {
    char string[STRING_MAX];
    lathe_status status;
    switch (entry->d_tag) {
    case DT_NEEDED:
    case DT_FILTER:
    case DT_AUXILIARY:
        status = read_string(elf, entry->d_un.d_val, string, err);
        return status ? status : check_needed(string, err);
    case DT_RPATH:
    case DT_RUNPATH:
        status = read_string(elf, entry->d_un.d_val, string, err);
        return status ? status : check_search_path(string, err);
    case DT_FLAGS_1:
        if (!(entry->d_un.d_val & DF_1_PIE)) return LATHE_OK;
        return refuse(err,
                      "it is a program, not a shared object: link it with -shared");
    default:
        return LATHE_OK;
    }
}

static lathe_status check_entries(struct elf *elf, const Elf64_Dyn *entries,
                                  uint64_t count, struct error *err) {
    uint64_t end = 0, strings = 0;
    for (; end < count && entries[end].d_tag != DT_NULL; end++) {
        if (entries[end].d_tag == DT_STRTAB) strings = entries[end].d_un.d_ptr;
        if (entries[end].d_tag == DT_STRSZ) elf->strings_size = entries[end].d_un.d_val;
    }
    if (end == count || !locate(elf, strings, elf->strings_size, &elf->strings))
        return refuse(err, "it is damaged: its dynamic section has no %s",
                      end == count ? "end" : "string table");
    for (uint64_t i = 0; i < end; i++) {
        lathe_status status = check_entry(elf, &entries[i], err);
        if (status) return status;
    }
    return LATHE_OK;
}

static lathe_status check_dynamic(struct elf *elf, struct error *err) {
    const Elf64_Phdr *dynamic = NULL;
    for (int i = 0; i < elf->segment_count; i++)
        if (elf->segments[i].p_type == PT_DYNAMIC) dynamic = &elf->segments[i];
    uint64_t count = dynamic ? dynamic->p_memsz / sizeof(Elf64_Dyn) : 0, offset = 0;
    if (count == 0 || count > ENTRIES_MAX ||
        !locate(elf, dynamic->p_vaddr, count * sizeof(Elf64_Dyn), &offset))
        return refuse(err, "it is damaged: it has no dynamic section");
    Elf64_Dyn *entries = malloc(count * sizeof *entries);
    if (!entries) return fail(err, LATHE_ENOMEM, "out of memory");
    lathe_status status =
        elf_read_at(elf, offset, entries, count * sizeof *entries, err);
    if (!status) status = check_entries(elf, entries, count, err);
    free(entries);
    return status;
}

lathe_status elf_check(int fd, int64_t size, struct error *err) {
    struct elf elf = {.fd = fd, .size = (uint64_t)size};
    lathe_status status = elf_read_segments(&elf, err);
    return !status ? check_dynamic(&elf, err) : status;
}
