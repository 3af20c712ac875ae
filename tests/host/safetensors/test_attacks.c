/* SPDX-License-Identifier: MIT */
/* Files made to be misread: each fault that a reader of this format is known to have
 * had, and each rule of the format broken once. */
#include "host/safetensors/files.h"

#include "base/clock.h"
#include "base/text.h"

#define A_F32 "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"
#define TENSOR(name, dtype, shape, offsets)                                            \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape                           \
    ",\"data_offsets\":" offsets "}"

static const struct {
    const char *name, *header;
    size_t data;
    const char *why;
} attacks[] = {
    {"a product that wraps to zero",
     "{" TENSOR("a", "F32", "[4294967296,4294967296]", "[0,0]") "}", 0,
     "no whole number of bytes"},
    {"a product that wraps to something small",
     "{" TENSOR("a", "U8", "[4611686018427387904,4,5]", "[0,5]") "}", 5,
     "no whole number of bytes"},
    {"overflow before an empty dimension",
     "{" TENSOR("a", "U8", "[9223372036854775807,2,0]", "[0,0]") "}", 0,
     "no whole number of bytes"},
    {"a shape larger than its bytes", "{" TENSOR("a", "F32", "[1000]", "[0,8]") "}", 8,
     "takes 4000 bytes, and its data_offsets are 0 and 8"},
    {"a shape smaller than its bytes", "{" TENSOR("a", "F32", "[1]", "[0,8]") "}", 8,
     "takes 4 bytes"},
    {"past the file's end", "{" A_F32 "}", 7, "cut short"},
    {"bytes after the last tensor", "{" A_F32 "}", 9, "1 bytes follow"},
    {"data without a tensor", "{}", 4, "4 bytes follow"},
    {"a hole at the start", "{" TENSOR("a", "U8", "[2]", "[1,3]") "}", 3,
     "begins at byte 1 of the data, where the one before ends at 0"},
    {"a hole between",
     "{" TENSOR("a", "U8", "[1]", "[0,1]") "," TENSOR("b", "U8", "[1]", "[2,3]") "}", 3,
     "\"b\" begins at byte 2"},
    {"an overlap",
     "{" TENSOR("a", "U8", "[2]", "[0,2]") "," TENSOR("b", "U8", "[2]", "[1,3]") "}", 3,
     "\"b\" begins at byte 1 of the data, where the one before ends at 2"},
    {"the same bytes twice",
     "{" TENSOR("a", "U8", "[2]", "[0,2]") "," TENSOR("b", "U8", "[2]", "[0,2]") "}", 2,
     "begins at byte 0"},
    {"end before begin", "{" TENSOR("a", "U8", "[2]", "[2,0]") "}", 2,
     "data_offsets are 2 and 0"},
    {"a negative offset", "{" TENSOR("a", "U8", "[2]", "[-2,0]") "}", 2,
     "has -2 where a whole number"},
    {"a negative dimension", "{" TENSOR("a", "U8", "[-1,-2]", "[0,2]") "}", 2,
     "has -1 where a whole number"},
    {"offsets as decimals", "{" TENSOR("a", "U8", "[2]", "[0.0,2.0]") "}", 2,
     "has 0.0 where a whole number"},
    {"a shape with an exponent", "{" TENSOR("a", "U8", "[2e0]", "[0,2]") "}", 2,
     "has 2e0 where a whole number"},
    {"a number as text", "{" TENSOR("a", "U8", "[\"2\"]", "[0,2]") "}", 2,
     "\"shape\" holds a string"},
    {"a shape in a shape", "{" TENSOR("a", "U8", "[[2]]", "[0,2]") "}", 2,
     "\"shape\" holds an array"},
    {"null for a shape", "{" TENSOR("a", "U8", "null", "[0,2]") "}", 2,
     "has null where a whole number"},
    {"more than 64 bits", "{" TENSOR("a", "U8", "[18446744073709551616]", "[0,2]") "}",
     2, "18446744073709551616 does not fit"},
    {"a leading zero", "{" TENSOR("a", "U8", "[02]", "[0,2]") "}", 2, "in the header"},
    {"one offset", "{" TENSOR("a", "U8", "[2]", "[2]") "}", 2, "begin and end"},
    {"three offsets", "{" TENSOR("a", "U8", "[2]", "[0,2,2]") "}", 2,
     "has 3 numbers; at most 2"},
    {"no offsets", "{\"a\":{\"dtype\":\"U8\",\"shape\":[0]}}", 0,
     "\"data_offsets\" is not there"},
    {"no dtype", "{\"a\":{\"shape\":[0],\"data_offsets\":[0,0]}}", 0,
     "\"dtype\" is not there"},
    {"something else beside",
     "{\"a\":{\"dtype\":\"U8\",\"shape\":[0],"
     "\"data_offsets\":[0,0],\"strides\":[1]}}",
     0, "nothing else"},
    {"too many dimensions", "{" TENSOR("a", "U8", "[1,1,1,1,1,1,1]", "[0,1]") "}", 1,
     "has 7 numbers; at most 6"},
    {"an unknown type", "{" TENSOR("a", "F31", "[2]", "[0,8]") "}", 8,
     "of type \"F31\", which the format does not have"},
    {"half a byte", "{" TENSOR("a", "F4", "[3]", "[0,1]") "}", 1,
     "no whole number of bytes"},
    {"a tensor that is none", "{\"a\":[]}", 0, "\"a\" is an array"},
    {"a name twice", "{" A_F32 "," TENSOR("a", "F32", "[2]", "[8,16]") "}", 16,
     "\"a\" is given twice"},
    {"a name twice, spelled otherwise",
     "{" A_F32 "," TENSOR("\\u0061", "F32", "[2]", "[8,16]") "}", 16,
     "\"a\" is given twice"},
    {"an inner key twice",
     "{\"a\":{\"dtype\":\"U8\",\"shape\":[9],\"shape\":[2],\"data_offsets\":[0,2]}}", 2,
     "given twice"},
    {"notes twice", "{\"__metadata__\":{},\"__metadata__\":{}}", 0, "is given twice"},
    {"notes twice, spelled otherwise",
     "{\"__metadata__\":{},\"\\u005f_metadata__\":{}}", 0, "is given twice"},
    {"a note twice", "{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0,
     "the note \"k\" is given twice"},
    {"a note that is a number", "{\"__metadata__\":{\"k\":1}}", 0, "than strings"},
    {"a note that is an object", "{\"__metadata__\":{\"k\":{}}}", 0, "than strings"},
    {"notes that are a list", "{\"__metadata__\":[]}", 0, "'{' was expected"},
    {"\\u0000 in a name", "{" TENSOR("a\\u0000b", "U8", "[0]", "[0,0]") "}", 0,
     "\\u0000"},
    {"a name that is not UTF-8", "{" TENSOR("a\xff", "U8", "[0]", "[0,0]") "}", 0,
     "not UTF-8"},
    {"half of a surrogate pair", "{" TENSOR("\\ud800", "U8", "[0]", "[0,0]") "}", 0,
     "surrogate"},
    {"a space before", " {}", 0, "begins with 0x20"},
    {"a list", "[]", 0, "begins with 0x5b"},
    {"padding with something else", "{}\n\n", 0, "0x0a, where a space"},
    {"text after", "{}{}", 0, "where a space was expected"},
    {"a comma too much", "{" A_F32 ",}", 8, "a name in double quotes"},
    {"a comma first", "{," A_F32 "}", 8, "a name in double quotes"},
    {"no comma", "{" A_F32 A_F32 "}", 8, "',' or '}'"},
    {"no colon", "{\"a\" {}}", 0, "':'"},
    {"a string right after a number", "{\"a\":1\"k{\":1\"}}", 0, "',' or '}'"},
    {"no value", "{\"a\":}", 0, "a value"},
    {"a header that ends in a name", "{\"a", 0, "the end of a name"},
    {"a header that ends in a value", "{\"a\":{", 0, "the end of a value"},
    {"a header that does not end", "{" A_F32, 8, "header ends"},
    {"brackets crossed", "{\"a\":{\"shape\":[}}}", 0, "header"},
};

static void refuses_each(void **state) {
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        print_message("  %s\n", attacks[i].name);
        files_refuse(files_make(*state, attacks[i].header, attacks[i].data),
                     attacks[i].why);
    }
}

static void refuses_lengths_that_lie(void **state) {
    files_refuse(scratch_text(*state, "short", ""), "it has 0 bytes");
    files_refuse(scratch_text(*state, "short", "12345678"), "it has 8 bytes");
    files_refuse(files_raw(*state, 0, "{}", 2, 0), "no header");
    files_refuse(files_raw(*state, 3, "{}", 2, 0), "ask for a header of 3 bytes");
    files_refuse(files_raw(*state, UINT64_MAX, "{}", 2, 0), "18446744073709551615");
    files_refuse(files_raw(*state, UINT64_MAX - 7, "{}", 2, 0), "cut short");
    files_refuse(files_raw(*state, (16 << 20) + 1, "{}", 2, 17 << 20),
                 "at most 16777216 are accepted");
    files_refuse(files_raw(*state, 4, "{}\0 ", 4, 0), "is 0x00, where text");
}

static void refuses_what_is_no_file(void **state) {
    struct safetensors *file = NULL;
    struct error err = {0};
    struct scratch *scratch = *state;
    assert_int_equal(safetensors_open(scratch->directory, &file, &err), LATHE_EDATA);
    assert_non_null(strstr(err.what, "a directory"));
    assert_int_equal(safetensors_open("/nowhere/x.safetensors", &file, &err),
                     LATHE_ENOTFOUND);
    scratch_run(scratch, "mkfifo pipe");
    assert_int_equal(safetensors_open(scratch_path(scratch, "pipe"), &file, &err),
                     LATHE_EDATA);
}

/* Time and memory stay in proportion to the header. */
static void bears_a_great_many(void **state) {
    struct text header = {0};
    const double begin = clock_seconds();
    text_add(&header, "{\"__metadata__\":{\"\":\"\"");
    for (int i = 0; i < 50000; i++) text_format(&header, ",\"%x\":\"\"", i);
    text_add(&header, "}");
    for (int i = 0; i < 100000; i++)
        text_format(&header,
                    ",\"%x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}",
                    i);
    text_add(&header, "}");
    struct safetensors *file = files_open(files_make(*state, header.data, 0));
    assert_int_equal(safetensors_count(file), 100000);
    assert_string_equal(safetensors_find(file, "1869f")->name, "1869f");
    assert_null(safetensors_find(file, "186a0"));
    assert_string_equal(safetensors_note(file, "c34f"), "");
    safetensors_close(file);
    text_finish(&header);
    if (!IS_SANITIZED && clock_seconds() - begin > 10) fail_msg("far too slow");
}

static void refuses_what_is_endless(void **state) {
    struct text header = {0};
    text_add(&header, "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,0],\"shape\":[0");
    for (int i = 0; i < 1000000; i++) text_add(&header, ",0");
    text_add(&header, "]}}");
    files_refuse(files_make(*state, header.data, 0), "is described by 2000047 bytes");
    text_clear(&header);
    text_add(&header, "{\"a\":");
    for (int i = 0; i < 1000000; i++) text_add(&header, "[");
    for (int i = 0; i < 1000000; i++) text_add(&header, "]");
    text_add(&header, "}");
    files_refuse(files_make(*state, header.data, 0), "is described by 2000000 bytes");
    text_finish(&header);
}

static void refuses_deep_nesting(void **state) {
    struct text header = {0};
    text_add(&header, "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,0],\"shape\":");
    for (int i = 0; i < 500; i++) text_add(&header, "[");
    for (int i = 0; i < 500; i++) text_add(&header, "]");
    text_add(&header, "}}");
    files_refuse(files_make(*state, header.data, 0), "nested deeper than 64");
    text_finish(&header);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_each),
        cmocka_unit_test(refuses_lengths_that_lie),
        cmocka_unit_test(refuses_what_is_no_file),
        cmocka_unit_test(bears_a_great_many),
        cmocka_unit_test(refuses_what_is_endless),
        cmocka_unit_test(refuses_deep_nesting),
    };
    return cmocka_run_group_tests_name("hostile safetensors files", tests, files_init,
                                       files_finish);
}
