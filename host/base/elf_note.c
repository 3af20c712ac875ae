/* SPDX-License-Identifier: MIT */
/* Notes: owner, description and type, each padded, one after the other in segments of
 * their own (System V ABI, "Note Section"). */
#include <stdlib.h>
#include <string.h>

#include "elf_parts.h"

#define NOTES_MAX (1 << 20) /* bytes of a segment */

/* The bytes of a segment, for the caller to free. */
static lathe_status read_notes(const struct elf *elf, const Elf64_Phdr *segment,
                               unsigned char **bytes, struct error *err) {
    if (segment->p_filesz > NOTES_MAX || segment->p_offset > elf->size ||
        segment->p_filesz > elf->size - segment->p_offset)
        return fail(err, LATHE_EMISSING, "it is damaged: its notes lie outside of it");
    *bytes = malloc(segment->p_filesz + 1);
    if (!*bytes) return fail(err, LATHE_ENOMEM, "out of memory");
    lathe_status status =
        elf_read_at(elf, segment->p_offset, *bytes, segment->p_filesz, err);
    if (status != LATHE_OK) free(*bytes);
    return status;
}

static uint64_t pad(uint64_t size, uint64_t alignment) {
    return (size + alignment - 1) / alignment * alignment;
}

/* The description of the first note of this owner and type; NULL: none. What does not
 * fit its segment ends the search: most notes are not ours to judge. */
static const unsigned char *find(const unsigned char *bytes, uint64_t count,
                                 uint64_t alignment, const char *owner, uint32_t type,
                                 uint32_t *size) {
    const size_t owner_size = strlen(owner) + 1;
    for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= count;) {
        Elf64_Nhdr note;
        memcpy(&note, bytes + at, sizeof note);
        const uint64_t name = at + sizeof note;
        const uint64_t text = pad(name + note.n_namesz, alignment);
        if (text > count || note.n_descsz > count - text) return NULL;
        if (note.n_type == type && note.n_namesz == owner_size &&
            memcmp(bytes + name, owner, owner_size) == 0) {
            *size = note.n_descsz;
            return bytes + text;
        }
        at = pad(text + note.n_descsz, alignment);
    }
    return NULL;
}

lathe_status elf_note(int fd, int64_t size, const char *owner, uint32_t type,
                      char **text, size_t *length, struct error *err) {
    struct elf elf = {.fd = fd, .size = (uint64_t)size};
    lathe_status status = elf_read_segments(&elf, err);
    *text = NULL;
    for (int i = 0; status == LATHE_OK && !*text && i < elf.segment_count; i++) {
        const Elf64_Phdr *segment = &elf.segments[i];
        unsigned char *bytes = NULL;
        uint32_t found_size = 0;
        if (segment->p_type != PT_NOTE) continue;
        status = read_notes(&elf, segment, &bytes, err);
        if (status != LATHE_OK) return status;
        const unsigned char *found =
            find(bytes, segment->p_filesz, segment->p_align == 8 ? 8 : 4, owner, type,
                 &found_size);
        if (found) {
            memmove(bytes, found, found_size);
            bytes[found_size] = '\0';
            *text = (char *)bytes;
            *length = found_size;
        } else {
            free(bytes);
        }
    }
    return status;
}
