/* SPDX-License-Identifier: MIT */
/* The dynamic symbols of a library, read as data. */
#include "check/symbols.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf_parts.h"
#include "base/file.h"

#define SYMBOLS_MAX 200000

struct tables {
    uint64_t symbols, hash, gnu_hash;
};

static lathe_status damaged(struct error *err) {
    return fail(err, LATHE_EMISSING, "its dynamic symbols make no sense");
}

static lathe_status read_word(const struct elf *elf, uint64_t address, uint32_t *word,
                              struct error *err) {
    uint64_t offset;
    if (!elf_locate(elf, address, sizeof *word, &offset)) return damaged(err);
    return elf_read_at(elf, offset, word, sizeof *word, err);
}

/* The chains of the GNU hash table end at the last symbol. */
static lathe_status count_by_gnu_hash(const struct elf *elf, uint64_t table,
                                      uint32_t *count, struct error *err) {
    uint32_t buckets = 0, first = 0, bloom = 0, last = 0, word = 0;
    lathe_status status = read_word(elf, table, &buckets, err);
    if (!status) status = read_word(elf, table + 4, &first, err);
    if (!status) status = read_word(elf, table + 8, &bloom, err);
    const uint64_t heads = table + 16 + (uint64_t)bloom * 8;
    for (uint32_t i = 0; !status && i < buckets; i++) {
        status = read_word(elf, heads + 4ull * i, &word, err);
        if (word > last) last = word;
    }
    *count = first;
    if (status || last < first) return status;
    const uint64_t chains = heads + 4ull * buckets;
    do {
        status = read_word(elf, chains + 4ull * (last - first), &word, err);
        last++;
    } while (!status && !(word & 1) && last < SYMBOLS_MAX);
    *count = last;
    return status;
}

static lathe_status count_symbols(const struct elf *elf, const struct tables *tables,
                                  uint32_t *count, struct error *err) {
    if (tables->gnu_hash) return count_by_gnu_hash(elf, tables->gnu_hash, count, err);
    if (tables->hash) return read_word(elf, tables->hash + 4, count, err);
    return damaged(err);
}

static lathe_status visit(const struct elf *elf, const struct tables *tables,
                          uint32_t count, symbols_visit *see, void *context,
                          struct error *err) {
    for (uint32_t i = 1; i < count; i++) {
        Elf64_Sym symbol;
        char name[256] = "";
        uint64_t offset;
        if (!elf_locate(elf, tables->symbols + i * sizeof symbol, sizeof symbol,
                        &offset))
            return damaged(err);
        lathe_status status = elf_read_at(elf, offset, &symbol, sizeof symbol, err);
        if (status) return status;
        if (symbol.st_name >= elf->strings_size) return damaged(err);
        const uint64_t left = elf->strings_size - symbol.st_name;
        const uint64_t length = left < sizeof name - 1 ? left : sizeof name - 1;
        status = elf_read_at(elf, elf->strings + symbol.st_name, name, length, err);
        if (status) return status;
        const bool is_local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
        if (!is_local && name[0]) see(context, name, symbol.st_shndx != SHN_UNDEF);
    }
    return LATHE_OK;
}

static lathe_status read_symbols(struct elf *elf, symbols_visit *see, void *context,
                                 struct error *err) {
    struct tables tables = {0};
    uint32_t count = 0;
    lathe_status status = elf_read_segments(elf, err);
    if (!status) status = elf_read_dynamic(elf, err);
    if (status) return status;
    for (uint64_t i = 0; i < elf->entry_count; i++) {
        const Elf64_Dyn *entry = &elf->entries[i];
        if (entry->d_tag == DT_SYMTAB) tables.symbols = entry->d_un.d_ptr;
        if (entry->d_tag == DT_HASH) tables.hash = entry->d_un.d_ptr;
        if (entry->d_tag == DT_GNU_HASH) tables.gnu_hash = entry->d_un.d_ptr;
    }
    if (!tables.symbols) return damaged(err);
    status = count_symbols(elf, &tables, &count, err);
    if (status || count > SYMBOLS_MAX) return status ? status : damaged(err);
    return visit(elf, &tables, count, see, context, err);
}

lathe_status symbols_read(const char *path, symbols_visit *see, void *context,
                          struct error *err) {
    int fd = -1;
    int64_t size = 0;
    lathe_status status = file_open(path, &fd, &size, err);
    if (status != LATHE_OK) return status;
    struct elf elf = {.fd = fd, .size = (uint64_t)size};
    status = read_symbols(&elf, see, context, err);
    free(elf.entries);
    close(fd);
    return status;
}
