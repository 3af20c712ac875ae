/* SPDX-License-Identifier: MIT */
/* Any bytes look like a shared object that can be mapped whole, or are refused with a
 * reason. None is opened: that would run it. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#include "base/elf.h"
#include "base/elf_object.h"

/* What is read of one that passed has names that end, and bytes that are in it. */
static lathe_status read_object(int fd, int64_t size, struct error *err) {
    struct elf_object object;
    size_t length = 0;
    lathe_status status = elf_object_read(fd, size, true, &object, err);
    if (status == LATHE_OK) {
        length = strlen(object.search);
        for (const char **needed = object.needed; *needed; needed++)
            length += strlen(*needed);
    }
    for (size_t i = 0; status == LATHE_OK && i < object.export_count; i++) {
        char entry[24];
        length += strlen(object.exports[i].name);
        elf_bytes(fd, size, object.exports[i].address, entry, sizeof entry, NULL);
    }
    elf_object_finish(&object);
    unsigned version[2] = {1, 1};
    if (status == LATHE_OK) status = elf_glibc(fd, size, version, err);
    FUZZ_CHECK(length <= (size_t)size * (4096 + (size_t)size));
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char path[40];
    struct error err = {0};
    int fd = fuzz_file(bytes, count, path);
    char *text = NULL;
    size_t length = 0;
    lathe_status status =
        elf_note(fd, (int64_t)count, "lathe", 1, &text, &length, &err);
    FUZZ_CHECK(!text || (status == LATHE_OK && length < count && !text[length]));
    free(text);
    if (status == LATHE_OK) status = elf_check(fd, (int64_t)count, &err);
    if (status == LATHE_OK) status = read_object(fd, (int64_t)count, &err);
    if (status == LATHE_OK) return 0;
    FUZZ_CHECK(status == LATHE_EMISSING);
    fuzz_check_error(&err);
    return 0;
}
