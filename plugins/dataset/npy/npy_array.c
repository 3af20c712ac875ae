/* SPDX-License-Identifier: MIT */
#include "npy_array.h"

#include <stdlib.h>
#include <string.h>

#include "npy_header.h"

static const unsigned char magic[] = "\x93NUMPY"; /* then major, minor, length */

/* ---- the header ---- */

/* Little-endian, `width` bytes. */
static uint64_t read_bits(const unsigned char *at, int width) {
    uint64_t bits = 0;
    for (int i = width - 1; i >= 0; i--) bits = bits << 8 | at[i];
    return bits;
}

/* Finds the dictionary: *text and its *length, which lie within bytes[count]. */
static lathe_status find_header(const lathe_host *host, const char *name,
                                const unsigned char *bytes, int64_t count,
                                const char **text, int64_t *length) {
    if (count < 10 || memcmp(bytes, magic, 6) != 0)
        return lathe_fail(host, LATHE_EDATA,
                          "%s: is no .npy file: it does not begin with \\x93NUMPY, a "
                          "version and a length",
                          name);
    int major = bytes[6], width = major == 1 ? 2 : 4;
    if (major < 1 || major > 3)
        return lathe_fail(host, LATHE_EDATA,
                          "%s: is of version %d.%d of the format; 1 to 3 can be read",
                          name, major, bytes[7]);
    *length = count < 8 + width ? INT64_MAX : (int64_t)read_bits(bytes + 8, width);
    if (*length > count - 8 - width)
        return lathe_fail(host, LATHE_EDATA,
                          "%s: is cut short in its header: %lld bytes in all", name,
                          (long long)count);
    *text = (const char *)bytes + 8 + width;
    return LATHE_OK;
}

static lathe_status refuse_type(const lathe_host *host, const char *name,
                                const char *descr) {
    const char kind = descr[0] == '[' ? 'V' : descr[0] ? descr[1] : '\0';
    if (kind == 'O')
        return lathe_fail(host, LATHE_EDATA,
                          "%s: holds Python objects (%s), which are pickles: reading "
                          "them would run code of the file's; save numbers, as in "
                          "np.save(f, a.astype('f4'))",
                          name, descr);
    if (kind == 'V')
        return lathe_fail(host, LATHE_EDATA,
                          "%s: holds records (a structured type); save each field as "
                          "an array of its own",
                          name);
    return lathe_fail(
        host, LATHE_EDATA,
        "%s: holds numbers of type %s; b1, i1 to i8, u1 to u8, f2, f4 and "
        "f8 can be read",
        name, descr);
}

static lathe_status read_type(const lathe_host *host, const char *descr,
                              struct npy_array *array) {
    static const char *const types[] = {"b1", "i1", "i2", "i4", "i8", "u1",
                                        "u2", "u4", "u8", "f2", "f4", "f8"};
    if (descr[0] && strchr("<>=|", descr[0]))
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (!strcmp(types[i], descr + 1)) {
                array->kind = descr[1];
                array->width = descr[2] - '0';
                array->is_big = descr[0] == '>';
                return LATHE_OK;
            }
    return refuse_type(host, array->name, descr);
}

void npy_array_shape(const struct npy_array *array, char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < array->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? " x " : "",
                                 (long long)array->shape[i]);
}

/* Takes the shape, and says how many bytes the numbers are. */
static lathe_status take_shape(const lathe_host *host, const struct npy_header *header,
                               struct npy_array *array, int64_t *bytes) {
    char shape[160];
    if (header->rank < 1 || header->rank > LATHE_RANK_MAX)
        return lathe_fail(host, LATHE_EDATA,
                          "%s: has %d axes; 1 to %d can be read, the first one counts "
                          "the samples",
                          array->name, header->rank, LATHE_RANK_MAX);
    array->rank = header->rank;
    array->sample = 1;
    *bytes = array->width;
    int is_empty = 0, is_huge = 0;
    for (int i = 0; i < array->rank; i++) {
        array->shape[i] = header->shape[i];
        is_empty |= !header->shape[i];
        is_huge |= __builtin_mul_overflow(*bytes, header->shape[i], bytes);
    }
    npy_array_shape(array, shape, sizeof shape);
    if (is_empty)
        return lathe_fail(host, LATHE_EDATA, "%s: holds no numbers (%s)", array->name,
                          shape);
    if (is_huge)
        return lathe_fail(host, LATHE_EDATA,
                          "%s: its header asks for more numbers than can be (%s)",
                          array->name, shape);
    for (int i = 1; i < array->rank; i++) array->sample *= array->shape[i];
    return LATHE_OK;
}

/* ---- Fortran order ---- */

/* Walks the numbers as they lie, first axis fastest, and puts each where C order has
 * it. */
static void turn(const struct npy_array *array, const unsigned char *from,
                 unsigned char *to) {
    int64_t at[LATHE_RANK_MAX] = {0}, stride[LATHE_RANK_MAX], place = 0;
    int64_t count = array->shape[0] * array->sample;
    size_t width = (size_t)array->width;
    stride[array->rank - 1] = 1;
    for (int i = array->rank - 1; i > 0; i--)
        stride[i - 1] = stride[i] * array->shape[i];
    for (int64_t i = 0; i < count; i++, from += width) {
        memcpy(to + (size_t)place * width, from, width);
        for (int axis = 0; axis < array->rank; axis++) {
            place += stride[axis];
            if (++at[axis] < array->shape[axis]) break;
            place -= at[axis] * stride[axis];
            at[axis] = 0;
        }
    }
}

static lathe_status turn_to_c_order(const lathe_host *host, struct npy_array *array,
                                    int64_t bytes) {
    array->copy = malloc((size_t)bytes);
    if (!array->copy)
        return lathe_fail(host, LATHE_ENOMEM,
                          "%s: no memory to turn %lld bytes from Fortran order",
                          array->name, (long long)bytes);
    turn(array, array->values, array->copy);
    array->values = array->copy;
    return LATHE_OK;
}

lathe_status npy_array_open(const lathe_host *host, const char *name, const void *bytes,
                            int64_t count, struct npy_array *array) {
    struct npy_header header = {0};
    const char *text = NULL, *fault;
    int64_t length = 0, wanted = 0;
    *array = (struct npy_array){.name = name};
    lathe_status status = find_header(host, name, bytes, count, &text, &length);
    if (status != LATHE_OK) return status;
    if ((fault = npy_header_read(text, (size_t)length, &header)) != NULL)
        return lathe_fail(host, LATHE_EDATA, "%s: its header cannot be read: %s", name,
                          fault);
    status = read_type(host, header.descr, array);
    if (status == LATHE_OK) status = take_shape(host, &header, array, &wanted);
    if (status != LATHE_OK) return status;
    int64_t found = count - (text - (const char *)bytes) - length;
    if (found != wanted) {
        char shape[160];
        npy_array_shape(array, shape, sizeof shape);
        return lathe_fail(
            host, LATHE_EDATA,
            "%s: is %s: %lld bytes of numbers, its header (%s, %s) asks for %lld", name,
            found < wanted ? "cut short" : "too long", (long long)found, header.descr,
            shape, (long long)wanted);
    }
    array->values = (const unsigned char *)text + length;
    return header.is_fortran && array->rank > 1 ? turn_to_c_order(host, array, wanted)
                                                : LATHE_OK;
}

/* ---- numbers ---- */

/* IEEE 754 binary16; every one is a float. */
static double half_of(uint32_t bits) {
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023, word;
    float value;
    if (exponent == 0) {
        value = (float)fraction * 0x1p-24f;
        return bits >> 15 ? -(double)value : (double)value;
    }
    word = (bits >> 15) << 31 | (exponent == 31 ? 255u : exponent + 112) << 23 |
           fraction << 13;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

static double float_of(uint64_t bits, int width) {
    uint32_t word = (uint32_t)bits;
    float single;
    double wide;
    if (width == 2) return half_of(word);
    memcpy(&single, &word, sizeof single);
    memcpy(&wide, &bits, sizeof wide);
    return width == 4 ? (double)single : wide;
}

double npy_array_number(const struct npy_array *array, int64_t index) {
    const int width = array->width;
    const unsigned char *at = array->values + index * width;
    uint64_t bits = read_bits(at, width);
    if (array->is_big) bits = __builtin_bswap64(bits) >> (64 - 8 * width);
    if (array->kind == 'f') return float_of(bits, width);
    if (array->kind == 'b') return bits != 0;
    if (array->kind == 'u') return (double)bits;
    const int spare = 64 - 8 * width; /* the sign goes through them */
    return (double)((int64_t)(bits << spare) >> spare);
}

void npy_array_close(struct npy_array *array) {
    free(array->copy);
    array->copy = NULL;
}
