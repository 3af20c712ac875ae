/* SPDX-License-Identifier: MIT */
#include "elf_object.h"

#include <stdlib.h>
#include <string.h>

#include "elf_parts.h"

#define SYMBOLS_MAX (1u << 22)

static lathe_status refuse(struct error *err) {
    return fail(err, LATHE_EMISSING, "it is damaged: its symbols make no sense");
}

uint64_t elf_value(const struct elf *elf, int64_t tag) {
    for (uint64_t i = 0; i < elf->entry_count; i++)
        if (elf->entries[i].d_tag == tag) return elf->entries[i].d_un.d_val;
    return 0;
}

/* "" for what lies outside; the table ends with a NUL. */
static const char *string_at(const struct elf *elf, const struct elf_object *object,
                             uint64_t index) {
    return object->strings + (index < elf->strings_size ? index : elf->strings_size);
}

static lathe_status read_words(const struct elf *elf, uint64_t address, void *words,
                               uint64_t count, struct error *err) {
    uint64_t offset = 0;
    if (!elf_locate(elf, address, 4 * count, &offset)) return refuse(err);
    return elf_read_at(elf, offset, words, 4 * count, err);
}

static uint32_t find_greatest(const uint32_t *words, uint32_t count) {
    uint32_t greatest = 0;
    for (uint32_t i = 0; i < count; i++)
        if (words[i] > greatest) greatest = words[i];
    return greatest;
}

/* GNU's hash table tells how many symbols there are only by the end of its last
 * chain. */
static lathe_status count_by_chains(const struct elf *elf, uint64_t address,
                                    uint32_t *count, struct error *err) {
    uint32_t head[4], link = 0; /* buckets, first symbol, words of the filter */
    lathe_status status = read_words(elf, address, head, 4, err);
    if (status) return status;
    if (head[0] > SYMBOLS_MAX) return refuse(err);
    const uint64_t at = address + 16 + 8 * (uint64_t)head[2];
    uint32_t *buckets = malloc(4 * ((size_t)head[0] + 1));
    if (!buckets) return fail(err, LATHE_ENOMEM, "out of memory");
    status = read_words(elf, at, buckets, head[0], err);
    *count = status ? 0 : find_greatest(buckets, head[0]);
    free(buckets);
    if (status || *count < head[1]) return status;
    const uint64_t chains = at + 4 * (uint64_t)head[0];
    do {
        const uint64_t index = (*count)++ - head[1];
        status = read_words(elf, chains + 4 * index, &link, 1, err);
    } while (!status && !(link & 1));
    return status;
}

static lathe_status count_symbols(const struct elf *elf, uint32_t *count,
                                  struct error *err) {
    uint32_t head[2] = {0, 0}; /* buckets, symbols */
    const uint64_t chains = elf_value(elf, DT_GNU_HASH),
                   table = elf_value(elf, DT_HASH);
    lathe_status status = LATHE_OK;
    if (chains)
        status = count_by_chains(elf, chains, &head[1], err);
    else if (table)
        status = read_words(elf, table, head, 2, err);
    *count = head[1];
    return status || *count <= SYMBOLS_MAX ? status : refuse(err);
}

static bool is_seen(const Elf64_Sym *symbol) {
    const unsigned char visibility = ELF64_ST_VISIBILITY(symbol->st_other);
    return ELF64_ST_BIND(symbol->st_info) != STB_LOCAL && symbol->st_name &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static void add_symbols(const struct elf *elf, struct elf_object *object,
                        const Elf64_Sym *symbols, uint32_t count) {
    size_t wanted_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const Elf64_Sym *symbol = &symbols[i];
        const unsigned char binding = ELF64_ST_BIND(symbol->st_info);
        const char *name = string_at(elf, object, symbol->st_name);
        if (!is_seen(symbol)) continue;
        if (symbol->st_shndx == SHN_UNDEF)
            object->wanted[wanted_count++] = name;
        else
            object->exports[object->export_count++] =
                (struct elf_export){.name = name,
                                    .is_unique = binding == STB_GNU_UNIQUE,
                                    .is_weak = binding == STB_WEAK,
                                    .address = symbol->st_value,
                                    .size = symbol->st_size};
    }
}

static lathe_status read_symbols(const struct elf *elf, struct elf_object *object,
                                 struct error *err) {
    uint32_t count = 0;
    uint64_t offset = 0;
    lathe_status status = count_symbols(elf, &count, err);
    if (status) return status;
    const uint64_t bytes = count * sizeof(Elf64_Sym);
    Elf64_Sym *symbols = malloc(bytes + 1);
    object->exports = calloc((size_t)count + 1, sizeof *object->exports);
    object->wanted = calloc((size_t)count + 1, sizeof *object->wanted);
    if (!symbols || !object->exports || !object->wanted)
        status = fail(err, LATHE_ENOMEM, "out of memory");
    else if (count && !elf_locate(elf, elf_value(elf, DT_SYMTAB), bytes, &offset))
        status = refuse(err);
    else if (count)
        status = elf_read_at(elf, offset, symbols, bytes, err);
    if (!status) add_symbols(elf, object, symbols, count);
    free(symbols);
    return status;
}

static lathe_status read_needed(const struct elf *elf, struct elf_object *object,
                                struct error *err) {
    size_t count = 0;
    object->strings = malloc(elf->strings_size + 1);
    object->needed = calloc(elf->entry_count + 1, sizeof *object->needed);
    if (!object->strings || !object->needed)
        return fail(err, LATHE_ENOMEM, "out of memory");
    object->strings[elf->strings_size] = '\0';
    const uint64_t last = elf_value(elf, DT_RUNPATH), first = elf_value(elf, DT_RPATH);
    const uint64_t flags = elf_value(elf, DT_FLAGS);
    for (uint64_t i = 0; i < elf->entry_count; i++) {
        const Elf64_Dyn *entry = &elf->entries[i];
        if (entry->d_tag == DT_SYMBOLIC) object->is_symbolic = true;
        if (entry->d_tag == DT_NEEDED)
            object->needed[count++] = string_at(elf, object, entry->d_un.d_val);
    }
    object->is_symbolic |= (flags & DF_SYMBOLIC) != 0;
    object->is_searched_last = last != 0;
    object->search = last || first ? string_at(elf, object, last ? last : first) : "";
    return elf_read_at(elf, elf->strings, object->strings, elf->strings_size, err);
}

lathe_status elf_object_read(int fd, int64_t size, bool has_symbols,
                             struct elf_object *object, struct error *err) {
    struct elf elf = {.fd = fd, .size = (uint64_t)size};
    *object = (struct elf_object){0};
    lathe_status status = elf_read_segments(&elf, err);
    if (!status) status = elf_read_dynamic(&elf, err);
    if (!status) status = read_needed(&elf, object, err);
    if (!status && has_symbols) status = read_symbols(&elf, object, err);
    free(elf.entries);
    return status;
}

void elf_object_finish(struct elf_object *object) {
    free(object->needed);
    free(object->exports);
    free(object->wanted);
    free(object->strings);
    *object = (struct elf_object){0};
}

lathe_status elf_bytes(int fd, int64_t size, uint64_t address, void *bytes,
                       size_t count, struct error *err) {
    struct elf elf = {.fd = fd, .size = (uint64_t)size};
    uint64_t offset = 0;
    lathe_status status = elf_read_segments(&elf, err);
    if (status) return status;
    if (!elf_locate(&elf, address, count, &offset)) return refuse(err);
    return elf_read_at(&elf, offset, bytes, count, err);
}
