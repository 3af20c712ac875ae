/* SPDX-License-Identifier: MIT */
/* IDX files, the format of MNIST: 00 00, a type, the number of dimensions, each
 * dimension in four bytes, then the values; all big-endian. Values stay as they are in
 * the file and become floats as samples are gathered. No augmentation, no resizing. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lathe/dataset.h>

#include "kernels/bytes.h"

#define DIMENSIONS_MAX 8 /* of the format */
#define CACHE_LINE 64

struct file {
    const char *path;            /* for messages */
    const unsigned char *values; /* mapped, the host's */
    int type;                    /* TT of the format */
    int width;                   /* bytes per value */
    int rank;
    int64_t shape[DIMENSIONS_MAX];
    int64_t sample; /* values per item of the first dimension */
};

struct idx {
    struct file images, labels;
    int64_t classes; /* 0: no labels */
    double mean, std;
    float bytes[256]; /* what each byte becomes … */
    bool is_line;     /* … which is byte * factor + offset */
    double factor, offset;
};

static const struct {
    int type, width;
    const char *name;
} types[] = {{0x08, 1, "u8"},  {0x09, 1, "i8"},  {0x0B, 2, "i16"},
             {0x0C, 4, "i32"}, {0x0D, 4, "f32"}, {0x0E, 8, "f64"}};

static const char *type_name(int type) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type) return types[i].name;
    return "unknown";
}

static int type_width(int type) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type) return types[i].width;
    return 0;
}

static uint32_t read_u32(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint64_t read_u64(const unsigned char *at) {
    return (uint64_t)read_u32(at) << 32 | read_u32(at + 4);
}

/* ---- the header ---- */

static void write_shape(const struct file *file, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < file->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? " x " : "",
                                 (long long)file->shape[i]);
}

static lathe_status read_magic(const lathe_host *host, struct file *file,
                               const unsigned char *bytes, int64_t count) {
    if (count < 4)
        return lathe_fail(host, LATHE_EDATA,
                          "%s: is %lld bytes long; the header of an IDX file has at "
                          "least 8",
                          file->path, (long long)count);
    file->type = bytes[2];
    file->width = type_width(bytes[2]);
    file->rank = bytes[3];
    if (bytes[0] || bytes[1] || !file->width)
        return lathe_fail(
            host, LATHE_EDATA,
            "%s: starts with %02x %02x %02x %02x; an IDX file starts with "
            "00 00, a type (08 09 0b 0c 0d 0e) and its dimensions (01 to 08)",
            file->path, bytes[0], bytes[1], bytes[2], bytes[3]);
    if (file->rank < 1 || file->rank > DIMENSIONS_MAX)
        return lathe_fail(host, LATHE_EDATA,
                          "%s: has %d dimensions; an IDX file has 1 to %d", file->path,
                          file->rank, DIMENSIONS_MAX);
    if (count < 4 + 4 * file->rank)
        return lathe_fail(
            host, LATHE_EDATA,
            "%s: is cut short in its header: %lld bytes, %d dimensions need %d",
            file->path, (long long)count, file->rank, 4 + 4 * file->rank);
    return LATHE_OK;
}

/* The length that the header asks for; -1 when no file is that long. */
static int64_t expected_length(struct file *file, const unsigned char *bytes) {
    int64_t product = file->width;
    for (int i = 0; i < file->rank; i++) {
        file->shape[i] = read_u32(bytes + 4 + 4 * i);
        if (file->shape[i] && product > (INT64_MAX - 64) / file->shape[i]) return -1;
        product *= file->shape[i];
    }
    file->sample = product ? product / file->width / file->shape[0] : 0;
    return product + 4 + 4 * file->rank;
}

static lathe_status check_length(const lathe_host *host, struct file *file,
                                 const unsigned char *bytes, int64_t count) {
    char shape[128];
    int64_t expected = expected_length(file, bytes);
    write_shape(file, shape, sizeof shape);
    if (expected < 0)
        return lathe_fail(host, LATHE_EDATA,
                          "%s: its header asks for more values than can be",
                          file->path);
    if (count != expected)
        return lathe_fail(host, LATHE_EDATA,
                          "%s: is %s: %lld bytes, its header (%s, %s) asks for %lld",
                          file->path, count < expected ? "cut short" : "too long",
                          (long long)count, type_name(file->type), shape,
                          (long long)expected);
    if (expected == 4 + 4 * file->rank)
        return lathe_fail(host, LATHE_EDATA, "%s: holds no values (%s)", file->path,
                          shape);
    return LATHE_OK;
}

static lathe_status open_file(const lathe_host *host, const char *option,
                              struct file *file) {
    const void *content;
    int64_t count;
    file->path = lathe_string(host, option);
    lathe_status status = host->map(host, option, &content, &count);
    if (status) return status;
    status = read_magic(host, file, content, count);
    if (!status) status = check_length(host, file, content, count);
    file->values = (const unsigned char *)content + 4 + 4 * file->rank;
    return status;
}

/* ---- values ---- */

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double read_value(int type, const unsigned char *at) {
    switch (type) {
    case 0x08:
        return at[0];
    case 0x09:
        return (int8_t)at[0];
    case 0x0B:
        return (int16_t)(at[0] << 8 | at[1]);
    case 0x0C:
        return (int32_t)read_u32(at);
    case 0x0D:
        return (double)float_of(read_u32(at));
    default:
        return double_of(read_u64(at));
    }
}

static int32_t read_label(const struct file *labels, int64_t index) {
    return (int32_t)read_value(labels->type, labels->values + index * labels->width);
}

/* What a value becomes as an input. */
static float scale_value(const struct idx *idx, const unsigned char *at) {
    return (float)((read_value(idx->images.type, at) - idx->mean) / idx->std);
}

/* NaN and infinities: bytes and whole numbers cannot hold any. */
static lathe_status check_finite(const lathe_host *host, const struct idx *idx) {
    const struct file *images = &idx->images;
    int64_t count = images->shape[0] * images->sample;
    if (images->type != 0x0D && images->type != 0x0E) return LATHE_OK;
    for (int64_t i = 0; i < count; i++) {
        const unsigned char *at = images->values + i * images->width;
        if (!isfinite(scale_value(idx, at)))
            return lathe_fail(
                host, LATHE_EDATA,
                "%s: sample %lld holds %g; an input must be a finite 32-bit float",
                images->path, (long long)(i / images->sample),
                read_value(images->type, at));
    }
    return LATHE_OK;
}

static lathe_status check_labels(const lathe_host *host, struct idx *idx) {
    const struct file *labels = &idx->labels;
    int64_t classes = lathe_integer(host, "classes");
    if (labels->rank != 1)
        return lathe_fail(host, LATHE_EDATA, "%s: has %d dimensions; labels have 1",
                          labels->path, labels->rank);
    if (labels->type == 0x0D || labels->type == 0x0E)
        return lathe_fail(host, LATHE_EDATA,
                          "%s: holds %s; labels are whole numbers (u8, i8, i16, i32)",
                          labels->path, type_name(labels->type));
    if (labels->shape[0] != idx->images.shape[0])
        return lathe_fail(host, LATHE_EDATA, "labels: %lld, images: %lld (%s and %s)",
                          (long long)labels->shape[0], (long long)idx->images.shape[0],
                          labels->path, idx->images.path);
    int64_t largest = classes ? classes - 1 : INT32_MAX - 1;
    for (int64_t i = 0; i < labels->shape[0]; i++) {
        int64_t label = read_label(labels, i);
        if (label < 0 || label > largest)
            return lathe_fail(host, LATHE_EDATA,
                              "%s: sample %lld has label %lld; labels are 0 to %lld",
                              labels->path, (long long)i, (long long)label,
                              (long long)largest);
        if (label >= idx->classes) idx->classes = label + 1;
    }
    if (classes) idx->classes = classes;
    return LATHE_OK;
}

static lathe_status open_files(const lathe_host *host, struct idx *idx) {
    lathe_status status = open_file(host, "images", &idx->images);
    if (status) return status;
    if (idx->images.rank > LATHE_RANK_MAX)
        return lathe_fail(host, LATHE_EDATA,
                          "%s: has %d dimensions; at most %d can be read",
                          idx->images.path, idx->images.rank, LATHE_RANK_MAX);
    status = check_finite(host, idx);
    if (status) return status;
    if (!lathe_has(host, "labels"))
        return lathe_has(host, "classes")
                   ? lathe_fail(host, LATHE_EINVAL, "classes is given without labels")
                   : LATHE_OK;
    status = open_file(host, "labels", &idx->labels);
    return status ? status : check_labels(host, idx);
}

/* What each byte becomes. A line through doubles is faster than looking it up, and as
 * good where it gives the same for all of them. */
static void prepare_bytes(struct idx *idx) {
    idx->factor = 1 / (255 * idx->std);
    idx->offset = -idx->mean / idx->std;
    idx->is_line = true;
    for (int i = 0; i < 256; i++) {
        const unsigned char byte = (unsigned char)i;
        float on_line;
        idx->bytes[i] = (float)((i / 255.0 - idx->mean) / idx->std);
        bytes_scale(1, &byte, idx->factor, idx->offset, &on_line);
        idx->is_line = idx->is_line && on_line == idx->bytes[i];
    }
}

static lathe_status create(const lathe_host *host, void **self) {
    struct idx *idx = calloc(1, sizeof *idx);
    if (!idx) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    idx->mean = lathe_number(host, "mean");
    idx->std = lathe_number(host, "std");
    prepare_bytes(idx);
    lathe_status status = open_files(host, idx);
    if (status)
        free(idx);
    else
        *self = idx;
    return status;
}

static lathe_status describe(void *self, const lathe_data_plan *plan) {
    const struct idx *idx = self;
    lathe_field input = {.size = sizeof input,
                         .rank = (uint32_t)idx->images.rank - 1,
                         .name = "input",
                         .code = LATHE_FLOAT,
                         .bits = 32};
    lathe_field label = {.size = sizeof label,
                         .name = "label",
                         .code = LATHE_INT,
                         .bits = 32,
                         .classes = idx->classes};
    for (int i = 1; i < idx->images.rank; i++)
        input.shape[i - 1] = idx->images.shape[i];
    lathe_status status = plan->field(plan, &input);
    if (!status && idx->classes) status = plan->field(plan, &label);
    if (!status) plan->samples(plan, idx->images.shape[0]);
    return status;
}

/* Writes sample `index` to `to`, each value from its own bytes alone: however samples
 * are grouped, the bits are the same. Samples come in random order, so the processor
 * cannot guess the next one: asked for while this one is written, it is there in
 * time. */
static void gather_sample(const struct idx *idx, int64_t index, int64_t next,
                          float *to) {
    const struct file *images = &idx->images;
    int64_t length = images->sample * images->width;
    const unsigned char *at = images->values + index * length;
    const unsigned char *ahead = images->values + next * length;
    for (int64_t i = 0; i < length; i += CACHE_LINE) __builtin_prefetch(ahead + i);
    if (images->type == 0x08) {
        if (idx->is_line)
            bytes_scale(length, at, idx->factor, idx->offset, to);
        else
            for (int64_t i = 0; i < length; i++) to[i] = idx->bytes[at[i]];
        return;
    }
    for (int64_t i = 0; i < images->sample; i++, at += images->width)
        to[i] = scale_value(idx, at);
}

static lathe_status read_samples(void *self, const int64_t *indices,
                                 const lathe_batch *into) {
    const struct idx *idx = self;
    float *input = into->fields[0].data;
    for (int64_t row = 0; row < into->rows; row++) {
        int64_t next = indices[row + 1 < into->rows ? row + 1 : row];
        gather_sample(idx, indices[row], next, input + row * idx->images.sample);
    }
    if (!idx->classes) return LATHE_OK;
    int32_t *label = into->fields[1].data;
    for (int64_t row = 0; row < into->rows; row++)
        label[row] = read_label(&idx->labels, indices[row]);
    return LATHE_OK;
}

LATHE_DATASET(.create = create, .destroy = free, .describe = describe,
              .read = read_samples);
