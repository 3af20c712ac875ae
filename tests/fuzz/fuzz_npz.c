/* SPDX-License-Identifier: MIT */
/* The dataset npz. The sums of members are made right first where the options are those
 * of a capital letter's: no fuzzer finds a CRC-32 by itself. */
#include "dataset/npy/npy_array.c"
#include "dataset/npy/npy_header.c"
#include "dataset/npy/npy_samples.c"
#include "dataset/npz/npz.c"
#include "dataset/npz/zip.c"

#include "fuzz_data.h"

static const char *const options[] = {
    "{\"file\": \"0\"}",
    "{\"file\": \"0\", \"label\": \"\"}",
    "{\"file\": \"0\", \"input\": \"a\", \"label\": \"b\", \"classes\": 0}",
    "{\"file\": \"0\", \"classes\": 3, \"mean\": 1, \"std\": 0.25}",
};

static void put_sum(unsigned char *entry, uint32_t sum) {
    for (int i = 0; i < 4; i++) entry[16 + i] = (unsigned char)(sum >> 8 * i);
}

static void mend_sums(void *file, size_t size) {
    struct zip zip;
    struct zip_member member;
    if (zip_open(&zip, file, (int64_t)size)) return;
    int64_t place = zip.directory, entry = place;
    for (int64_t i = 0; i < zip.members && !zip_next(&zip, &place, &member); i++) {
        if (is_inside(member.offset, HEADER_LENGTH, zip.directory)) {
            const unsigned char *header = zip.bytes + member.offset;
            int64_t content = member.offset + HEADER_LENGTH +
                              (int64_t)u16(header + 26) + (int64_t)u16(header + 28);
            if (is_inside(content, member.size, zip.directory))
                put_sum((unsigned char *)file + entry,
                        sum_of(zip.bytes + content, member.size));
        }
        entry = place;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    int is_mended = count && bytes[0] >= 'A' && bytes[0] <= 'Z';
    FUZZ_DATA("dataset/npz", options, 1, bytes, count, is_mended ? mend_sums : NULL);
    return 0;
}
