/* SPDX-License-Identifier: MIT */
/* Numbers of other widths as floats. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "safetensors_parts.h"

static float from_bits(uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static float from_f16(uint16_t half) {
    const uint32_t sign = (uint32_t)(half >> 15) << 31, fraction = half & 0x3ffu;
    const uint32_t exponent = half >> 10 & 0x1fu;
    if (exponent == 0) {
        const float small = ldexpf((float)fraction, -24);
        return sign ? -small : small;
    }
    if (exponent == 31) return from_bits(sign | 0x7f800000u | fraction << 13);
    return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

static void convert(const void *bytes, const char *dtype, int64_t count, float *to) {
    const double *doubles = bytes;
    const uint16_t *halves = bytes;
    const bool is_brain = !strcmp(dtype, "BF16");
    if (!strcmp(dtype, "F64")) {
        for (int64_t i = 0; i < count; i++) to[i] = (float)doubles[i];
        return;
    }
    for (int64_t i = 0; i < count; i++)
        to[i] = is_brain ? from_bits((uint32_t)halves[i] << 16) : from_f16(halves[i]);
}

lathe_status safetensors_read_floats(const struct safetensors *file,
                                     const struct safetensor *tensor, float *floats,
                                     struct error *err) {
    const char *dtype = tensor->dtype;
    if (!strcmp(dtype, "F32")) return safetensors_read(file, tensor, floats, err);
    if (strcmp(dtype, "F64") && strcmp(dtype, "F16") && strcmp(dtype, "BF16"))
        return fail(err, LATHE_EDATA,
                    "tensor \"%s\" is %s; F32, F16, BF16 or F64 was expected",
                    tensor->name, dtype);
    void *bytes = malloc((size_t)tensor->bytes + 1);
    if (!bytes)
        return fail(err, LATHE_ENOMEM, "no memory for tensor \"%s\"", tensor->name);
    lathe_status status = safetensors_read(file, tensor, bytes, err);
    if (status == LATHE_OK)
        convert(bytes, dtype, tensor->bytes / (strcmp(dtype, "F64") ? 2 : 8), floats);
    free(bytes);
    return status;
}
