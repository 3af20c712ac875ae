/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "elf_object.h"
#include "elf_parts.h"
#include "text.h"

#define RECORDS_MAX 4096 /* of versions that are needed, in all */

struct versions {
    const struct elf *elf;
    unsigned newest[2]; /* so far */
    int record_count;
};

static lathe_status read_record(const struct elf *elf, uint64_t address, void *record,
                                size_t bytes, struct error *err) {
    uint64_t offset = 0;
    if (!elf_locate(elf, address, bytes, &offset))
        return fail(err, LATHE_EMISSING, "it is damaged: its versions make no sense");
    return elf_read_at(elf, offset, record, bytes, err);
}

/* "GLIBC_2.34", or "GLIBC_2.2.5", of which the last part is left out; GLIBC_PRIVATE and
 * the like are of no version. */
static lathe_status take_name(struct versions *v, uint64_t index, struct error *err) {
    static const char prefix[] = "GLIBC_";
    const size_t length = sizeof prefix - 1;
    char name[32] = {0};
    const struct elf *elf = v->elf;
    unsigned found[2];
    if (index >= elf->strings_size) return LATHE_OK;
    const uint64_t left = elf->strings_size - index;
    const size_t count = left < sizeof name - 1 ? (size_t)left : sizeof name - 1;
    lathe_status status = elf_read_at(elf, elf->strings + index, name, count, err);
    if (status || strncmp(name, prefix, length) != 0) return status;
    char *minor = strchr(name + length, '.'),
         *patch = minor ? strchr(minor + 1, '.') : NULL;
    if (patch) *patch = '\0';
    if (text_read_version(name + length, found) &&
        (found[0] > v->newest[0] ||
         (found[0] == v->newest[0] && found[1] > v->newest[1])))
        memcpy(v->newest, found, sizeof found);
    return LATHE_OK;
}

static lathe_status take_file(struct versions *v, uint64_t address, uint32_t count,
                              struct error *err) {
    Elf64_Vernaux aux;
    lathe_status status = LATHE_OK;
    for (uint32_t i = 0; i < count && !status; i++) {
        if (v->record_count++ > RECORDS_MAX) return LATHE_OK;
        status = read_record(v->elf, address, &aux, sizeof aux, err);
        if (!status) status = take_name(v, aux.vna_name, err);
        if (status || !aux.vna_next) break;
        address += aux.vna_next;
    }
    return status;
}

static lathe_status take_all(struct versions *v, struct error *err) {
    uint64_t address = elf_value(v->elf, DT_VERNEED);
    lathe_status status = LATHE_OK;
    while (address && !status && v->record_count++ <= RECORDS_MAX) {
        Elf64_Verneed need;
        status = read_record(v->elf, address, &need, sizeof need, err);
        if (!status) status = take_file(v, address + need.vn_aux, need.vn_cnt, err);
        address = status || !need.vn_next ? 0 : address + need.vn_next;
    }
    return status;
}

lathe_status elf_glibc(int fd, int64_t size, unsigned version[2], struct error *err) {
    struct elf elf = {.fd = fd, .size = (uint64_t)size};
    struct versions versions = {.elf = &elf};
    lathe_status status = elf_read_segments(&elf, err);
    if (!status) status = elf_read_dynamic(&elf, err);
    if (!status) status = take_all(&versions, err);
    memcpy(version, versions.newest, sizeof versions.newest);
    free(elf.entries);
    return status;
}
