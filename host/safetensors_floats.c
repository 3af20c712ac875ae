/* SPDX-License-Identifier: MIT */
/* Numbers of other widths as floats. */
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "safetensors_parts.h"

static void convert(const void *bytes, const char *dtype, int64_t count, float *to) {
    const double *doubles = bytes;
    const uint16_t *halves = bytes;
    const bool is_double = !strcmp(dtype, "F64"), is_half = !strcmp(dtype, "F16");
    for (int64_t i = 0; i < count; i++)
        to[i] = is_double ? (float)doubles[i]
                : is_half ? half_widen(halves[i])
                          : half_widen_bfloat(halves[i]);
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
