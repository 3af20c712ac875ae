/* SPDX-License-Identifier: MIT */
/* Any bytes as a bundle: taken in whole, each file with the size and the digest that is
 * listed, in the order that is listed, or refused with a reason. */
#include "fuzz.h"

#include "archive_tar.h"
#include "bundle/intake.h"

struct seen {
    const struct bundle *bundle;
    size_t files;
    int64_t left, total;
};

static lathe_status begin(void *context, const struct bundle_file *file,
                          struct error *err) {
    struct seen *seen = context;
    (void)err;
    FUZZ_CHECK(file == &seen->bundle->files[seen->files]);
    FUZZ_CHECK_FOUND(archive_check_name(file->path, NULL) == LATHE_OK, file->path);
    seen->left = file->size;
    return LATHE_OK;
}

static lathe_status add(void *context, const void *bytes, size_t count,
                        struct error *err) {
    struct seen *seen = context;
    (void)err;
    FUZZ_CHECK(bytes && count && (int64_t)count <= seen->left);
    seen->left -= (int64_t)count;
    seen->total += (int64_t)count;
    return LATHE_OK;
}

static lathe_status end(void *context, struct error *err) {
    struct seen *seen = context;
    (void)err;
    FUZZ_CHECK(seen->left == 0);
    seen->files++;
    return LATHE_OK;
}

/* No fuzzer finds the sums of tar's headers: where the first byte is a capital, they
 * are mended, from header to header. */
static void mend(uint8_t *bytes, size_t count) {
    for (size_t at = 0; at + 512 <= count;) {
        uint8_t *block = bytes + at;
        unsigned sum = 0;
        char size[13] = {0}, text[8];
        memcpy(size, block + 124, 12);
        memset(block + 148, ' ', 8);
        for (int i = 0; i < 512; i++) sum += block[i];
        if (sum == 8 * ' ') return;
        snprintf(text, sizeof text, "%06o", sum);
        memcpy(block + 148, text, 7);
        at += 512 + ((strtoul(size, NULL, 8) & 0xffffff) + 511) / 512 * 512;
    }
}

static void take_in(const char *path) {
    struct intake *intake = NULL;
    const struct bundle *bundle = NULL;
    struct error err = {0};
    size_t length = 0;
    if (intake_open(path, &intake, &err)) {
        fuzz_check_error(&err);
        return;
    }
    const char *text = intake_text(intake, &length);
    FUZZ_CHECK(length <= BUNDLE_TEXT_MAX && (text || !length));
    lathe_status status = intake_begin(intake, &bundle, &err);
    if (!status) {
        struct seen seen = {.bundle = bundle};
        const struct intake_sink sink = {&seen, begin, add, end};
        FUZZ_CHECK(bundle_find(bundle, BUNDLE_EXPERIMENT));
        FUZZ_CHECK(bundle->total <= BUNDLE_TOTAL_MAX);
        status = intake_files(intake, &sink, &err);
        if (!status) FUZZ_CHECK(seen.files == bundle->file_count);
        if (!status) FUZZ_CHECK(seen.total == bundle->total);
    }
    if (status) fuzz_check_error(&err);
    intake_close(intake);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char path[40];
    uint8_t *mended = NULL;
    if (count && *bytes >= 'A' && *bytes <= 'Z') {
        mended = malloc(count);
        FUZZ_CHECK(mended);
        memcpy(mended, bytes, count);
        mended[0] = (uint8_t)(*bytes + 32);
        mend(mended, count);
    }
    fuzz_file(mended ? mended : bytes, count, path);
    take_in(path);
    free(mended);
    return 0;
}
