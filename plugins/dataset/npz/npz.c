/* SPDX-License-Identifier: MIT */
/* NumPy's .npz files, as numpy.savez writes them: two arrays of one archive as
 * samples. Everything but finding the arrays is the npy plugin's. Members that are
 * compressed are refused: inflating belongs to the host. */
#include <stdlib.h>
#include <string.h>

#include "../npy/npy_samples.h"
#include "zip.h"

struct npz {
    struct npy_samples samples;
    char names[2][512]; /* "data.npz: input.npy", for messages */
};

static lathe_status refuse_archive(const lathe_host *host, const char *fault) {
    return lathe_fail(host, LATHE_EDATA, "%s: %s", lathe_string(host, "file"), fault);
}

/* Is it the array of that name? NumPy adds ".npy". */
static int is_array(const struct zip_member *member, const char *name) {
    size_t length = strlen(name);
    return (size_t)member->name_length == length + 4 &&
           !memcmp(member->name, name, length) &&
           !memcmp(member->name + length, ".npy", 4);
}

/* "a", "b": as many of them as there is room for. */
static void list_arrays(const struct zip *zip, char *text, size_t size) {
    struct zip_member member;
    size_t used = 0;
    int64_t place = zip->directory;
    snprintf(text, size, "none");
    for (int64_t i = 0; i < zip->members && !zip_next(zip, &place, &member); i++) {
        int length = member.name_length - 4;
        if (length < 1 || memcmp(member.name + length, ".npy", 4) != 0) continue;
        if (used + (size_t)length + 5 > size) break;
        used += (size_t)snprintf(text + used, size - used, "%s\"%.*s\"",
                                 used ? ", " : "", length, (const char *)member.name);
    }
}

static lathe_status find_array(const lathe_host *host, const struct zip *zip,
                               const char *option, struct zip_member *member) {
    const char *name = lathe_string(host, option);
    int64_t place = zip->directory;
    char names[256];
    for (int64_t i = 0; i < zip->members; i++) {
        const char *fault = zip_next(zip, &place, member);
        if (fault) return refuse_archive(host, fault);
        if (is_array(member, name)) return LATHE_OK;
    }
    list_arrays(zip, names, sizeof names);
    return lathe_fail(
        host, LATHE_EDATA, "%s: has no array \"%s\"%s; its arrays: %s",
        lathe_string(host, "file"), name,
        !strcmp(option, "label") ? " (\"label\": \"\" for data without)" : "", names);
}

static lathe_status check_member(const lathe_host *host, const char *name,
                                 const struct zip_member *member) {
    if (member->is_encrypted)
        return lathe_fail(host, LATHE_EDATA, "%s: is encrypted", name);
    if (member->method == 0) return LATHE_OK;
    return lathe_fail(host, LATHE_EDATA,
                      "%s: is compressed (zip method %d); save it with np.savez in "
                      "place of np.savez_compressed, or each array with np.save and "
                      "gzip for the dataset \"npy\"",
                      name, member->method);
}

static lathe_status open_array(const lathe_host *host, const struct zip *zip,
                               const char *option, char name[512],
                               struct npy_array *array) {
    struct zip_member member = {0};
    const unsigned char *content = NULL;
    snprintf(name, 512, "%s: %s.npy", lathe_string(host, "file"),
             lathe_string(host, option));
    lathe_status status = find_array(host, zip, option, &member);
    if (status == LATHE_OK) status = check_member(host, name, &member);
    if (status != LATHE_OK) return status;
    const char *fault = zip_content(zip, &member, &content);
    if (fault) return refuse_archive(host, fault);
    return npy_array_open(host, name, content, member.size, array);
}

static lathe_status open_arrays(const lathe_host *host, struct npz *npz) {
    struct npy_samples *samples = &npz->samples;
    const void *bytes;
    int64_t count;
    struct zip zip;
    lathe_status status = host->map(host, "file", &bytes, &count);
    if (status != LATHE_OK) return status;
    const char *fault = zip_open(&zip, bytes, count);
    if (fault) return refuse_archive(host, fault);
    status = open_array(host, &zip, "input", npz->names[0], &samples->input);
    if (status == LATHE_OK && lathe_string(host, "label")[0])
        status = open_array(host, &zip, "label", npz->names[1], &samples->label);
    return status == LATHE_OK ? npy_samples_init(host, samples) : status;
}

static void destroy(void *self) {
    struct npz *npz = self;
    npy_samples_finish(&npz->samples);
    free(npz);
}

static lathe_status create(const lathe_host *host, void **self) {
    struct npz *npz = calloc(1, sizeof *npz);
    if (!npz) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    lathe_status status = open_arrays(host, npz);
    if (status == LATHE_OK)
        *self = npz;
    else
        destroy(npz);
    return status;
}

static lathe_status describe(void *self, const lathe_data_plan *plan) {
    const struct npz *npz = self;
    return npy_samples_describe(&npz->samples, plan);
}

static lathe_status read_samples(void *self, const int64_t *indices,
                                 const lathe_batch *into) {
    const struct npz *npz = self;
    npy_samples_read(&npz->samples, indices, into);
    return LATHE_OK;
}

LATHE_DATASET(.create = create, .destroy = destroy, .describe = describe,
              .read = read_samples);
