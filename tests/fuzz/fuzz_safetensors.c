/* SPDX-License-Identifier: MIT */
/* A safetensors file: one that opens has tensors that tile its data, can be read, and
 * reads the same when it is written again. */
#include "fuzz.h"

#include "safetensors.h"

/* Each tensor once, in the order of its bytes, and to be found by name. */
static void check_tensors(const struct safetensors *file, int64_t most) {
    int64_t end = 0;
    for (size_t i = 0; i < safetensors_count(file); i++) {
        const struct safetensor *tensor = safetensors_at(file, i);
        FUZZ_CHECK(tensor->offset == end && tensor->bytes >= 0);
        FUZZ_CHECK(tensor->rank >= 0 && tensor->rank <= LATHE_RANK_MAX);
        FUZZ_CHECK(safetensors_find(file, tensor->name) == tensor);
        end += tensor->bytes;
        FUZZ_CHECK(end <= most);
    }
    FUZZ_CHECK(!safetensors_at(file, safetensors_count(file)));
}

/* All of them with their bytes; the caller frees bytes and list. */
static struct safetensor *take_tensors(const struct safetensors *file, char *bytes) {
    const size_t count = safetensors_count(file);
    struct safetensor *taken = calloc(count + 1, sizeof *taken);
    struct error err = {0};
    FUZZ_CHECK(taken);
    for (size_t i = 0; i < count; i++) {
        taken[i] = *safetensors_at(file, i);
        taken[i].data = bytes + taken[i].offset;
        FUZZ_CHECK(!safetensors_read(file, &taken[i], bytes + taken[i].offset, &err));
    }
    return taken;
}

static void write_again(const struct safetensors *file, char *bytes, size_t room) {
    char path[40], *back = malloc(room);
    const size_t count = safetensors_count(file);
    struct safetensor *taken = take_tensors(file, bytes);
    struct safetensors *again = NULL;
    struct error err = {0};
    const int fd = memfd_create("again", MFD_CLOEXEC);
    FUZZ_CHECK(back && fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    FUZZ_CHECK_FOUND(!safetensors_write(fd, taken, count, NULL, 0, &err), err.what);
    FUZZ_CHECK_FOUND(!safetensors_open(path, &again, &err), err.what);
    FUZZ_CHECK_FOUND(!safetensors_verify(again, &err), err.what);
    for (size_t i = 0; i < count; i++) {
        const struct safetensor *same = safetensors_find(again, taken[i].name);
        FUZZ_CHECK(same);
        FUZZ_CHECK(same->dtype == taken[i].dtype && same->bytes == taken[i].bytes);
        FUZZ_CHECK(!memcmp(same->shape, taken[i].shape, sizeof same->shape));
        FUZZ_CHECK(!safetensors_read(again, same, back, &err));
        FUZZ_CHECK(!memcmp(back, taken[i].data, (size_t)same->bytes));
    }
    safetensors_close(again);
    close(fd);
    free(taken);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char path[40];
    struct safetensors *file = NULL;
    struct error err = {0};
    fuzz_file(bytes, count, path);
    if (safetensors_open(path, &file, &err)) {
        FUZZ_CHECK(!file);
        fuzz_check_error(&err);
        return 0;
    }
    char *data = malloc(count);
    FUZZ_CHECK(data);
    check_tensors(file, (int64_t)count);
    write_again(file, data, count);
    if (safetensors_verify(file, &err)) fuzz_check_error(&err);
    safetensors_close(file);
    free(data);
    return 0;
}
