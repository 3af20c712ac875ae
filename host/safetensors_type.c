/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "safetensors_parts.h"

const struct safetensors_type *safetensors_type(const char *name) {
    static const struct safetensors_type types[] = {
        {"F32", 32},        {"F64", 64},       {"F16", 16},    {"BF16", 16},
        {"I8", 8},          {"U8", 8},         {"I16", 16},    {"U16", 16},
        {"I32", 32},        {"U32", 32},       {"I64", 64},    {"U64", 64},
        {"BOOL", 8},        {"C64", 64},       {"F4", 4},      {"F6_E2M3", 6},
        {"F6_E3M2", 6},     {"F8_E5M2", 8},    {"F8_E4M3", 8}, {"F8_E8M0", 8},
        {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) return &types[i];
    return NULL;
}

bool safetensors_bytes(const struct safetensor *tensor,
                       const struct safetensors_type *type, int64_t *bytes) {
    int64_t bits = type->bits;
    for (int32_t i = 0; i < tensor->rank; i++)
        if (tensor->shape[i] < 0 ||
            __builtin_mul_overflow(bits, tensor->shape[i], &bits))
            return false;
    *bytes = bits / 8;
    return bits % 8 == 0;
}

int safetensors_compare_notes(const void *a, const void *b) {
    const struct safetensors_note *left = a, *right = b;
    return strcmp(left->key, right->key);
}
