/* SPDX-License-Identifier: MIT */
/* Any bytes look like a shared object that can be mapped whole, or are refused with a
 * reason. None is opened: that would run it. */
#include <stdlib.h>

#include "fuzz.h"

#include "base/elf.h"

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
    if (status == LATHE_OK) return 0;
    FUZZ_CHECK(status == LATHE_EMISSING);
    fuzz_check_error(&err);
    return 0;
}
