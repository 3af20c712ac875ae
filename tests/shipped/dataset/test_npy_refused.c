/* SPDX-License-Identifier: MIT */
/* Arrays that npy does not take, and what it says of them. */
#include "../../../plugins/dataset/npy/npy.c"
#include "../../../plugins/dataset/npy/npy_array.c"
#include "../../../plugins/dataset/npy/npy_header.c"
#include "../../../plugins/dataset/npy/npy_samples.c"

#include "trial.h"

#include "npy_file.h"

static struct scratch scratch;

static int begin(void **state) {
    (void)state;
    scratch_init(&scratch);
    return 0;
}

static int end(void **state) {
    (void)state;
    scratch_finish(&scratch);
    return 0;
}

#define INPUT "{\"input\": \"@/x.npy\"}"
#define BOTH "{\"input\": \"@/x.npy\", \"label\": \"@/y.npy\"}"
#define HEAD(descr, shape)                                                             \
    "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }"

static void write_array(const char *file, const char *dictionary, const void *numbers,
                        size_t count) {
    struct npy_file npy = npy_file_make(1, dictionary, numbers, count);
    scratch_write(&scratch, file, npy.bytes, npy.length);
}

static void refuse_bytes(const void *bytes, size_t count, const char *text) {
    scratch_write(&scratch, "x.npy", bytes, count);
    trial_refused("dataset/npy", trial_options(&scratch, INPUT), NULL, LATHE_EDATA,
                  text);
}

static void refuse(const char *dictionary, const void *numbers, size_t count,
                   const char *text) {
    struct npy_file npy = npy_file_make(1, dictionary, numbers, count);
    refuse_bytes(npy.bytes, npy.length, text);
}

static void types_that_are_no_numbers(void **state) {
    (void)state;
    refuse(
        HEAD("|O", "(1,)"), "\x80\4.", 3,
        "x.npy: holds Python objects (|O), which are pickles: reading them would run "
        "code of the file's");
    refuse("{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': "
           "(1,), }",
           "abcdefgh", 8, "x.npy: holds records (a structured type)");
    refuse(HEAD("|V8", "(1,)"), "abcdefgh", 8, "holds records");
    const char *const others[] = {
        HEAD("<U3", "(1,)"),  HEAD("|S3", "(1,)"),    HEAD("<c8", "(1,)"),
        HEAD("<f16", "(1,)"), HEAD("<M8[s]", "(1,)"), HEAD("f4", "(1,)"),
        HEAD("", "(1,)"),     HEAD("<", "(1,)"),      HEAD("<f3", "(1,)")};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        refuse(others[i], "0123456789abcdef", 16,
               "; b1, i1 to i8, u1 to u8, f2, f4 and f8 can be read");
}

static void what_is_no_npy_file(void **state) {
    (void)state;
    refuse_bytes("", 0, "x.npy: is no .npy file");
    refuse_bytes("\x93NUMPY\1\0\1", 9, "is no .npy file");
    refuse_bytes("PK\3\4aaaaaaaaaa", 14, "is no .npy file");
    refuse_bytes("\x93NUMPY\4\0\0\0\0\0", 12,
                 "is of version 4.0 of the format; 1 to 3");
    refuse_bytes("\x93NUMPY\0\0\0\0\0\0", 12, "is of version 0.0");
    refuse_bytes("\x93NUMPY\1\0\3\0{}", 12, "cut short in its header: 12 bytes in all");
    refuse_bytes("\x93NUMPY\2\0\0\0", 10, "cut short in its header");
    refuse_bytes("\x93NUMPY\2\0\0\0\0\0", 12, "it does not begin with {");
    refuse_bytes("\x93NUMPY\3\0\xff\xff\xff\xff", 12, "cut short in its header");
}

/* All beginnings of a good header are refused, none is read past. */
static void headers_that_are_cut_or_odd(void **state) {
    (void)state;
    static const char good[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3)}";
    for (size_t length = 0; length + 1 < sizeof good; length++) {
        char text[128];
        snprintf(text, sizeof text, "%.*s", (int)length, good);
        refuse(text, "", 0, "its header cannot be read: ");
    }
    static const struct {
        const char *dictionary, *text;
    } cases[] = {
        {"{'descr': '<f4', 'shape': (1,)}", "it does not have descr, fortran_order"},
        {"{'descr': '<f4', 'descr': '<f4'}", "a key comes twice"},
        {"{'colour': 1}", "a key is none of descr, fortran_order and shape"},
        {"{'descr' '<f4'}", "a key has no : after it"},
        {"{'descr': 4}", "its descr is neither a type nor a list of fields"},
        {"{'descr': '<f4' 'shape': (1,)}", "there is no , between its members"},
        {"{'fortran_order': 1}", "its fortran_order is neither True nor False"},
        {"{'shape': 3}", "its shape is no tuple"},
        {"{'shape': (3)}", "its shape is no tuple"},
        {"{'shape': (3, -1)}", "an axis that is no whole number from 0 on"},
        {"{'shape': (1.5,)}", "its shape is no tuple"},
        {"{'shape': (99999999999999999999,)}", "an axis that is no whole number"},
        {"{'shape': "
         "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
         "more than 32 axes"},
        {HEAD("|u1", "(1,)") " x", "something comes after its }"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(cases[i].dictionary, "", 0, cases[i].text);
}

static void lengths_that_do_not_fit(void **state) {
    (void)state;
    refuse(
        HEAD("<f4", "(2, 3)"), "abcdefgh", 8,
        "x.npy: is cut short: 8 bytes of numbers, its header (<f4, 2 x 3) asks for 24");
    refuse(HEAD("|u1", "(3,)"), "abcd", 4, "is too long: 4 bytes of numbers");
    refuse(HEAD("<f4", "()"), "abcd", 4, "has 0 axes; 1 to 6 can be read");
    refuse(HEAD("|u1", "(1, 1, 1, 1, 1, 1, 1)"), "a", 1, "has 7 axes");
    refuse(HEAD("<f4", "(0, 3)"), "", 0, "holds no numbers (0 x 3)");
    /* Products that wrap, to 0 and to something. */
    refuse(HEAD("<f4", "(4611686018427387904,)"), "", 0, "more numbers than can be");
    refuse(HEAD("|u1", "(4294967296, 4294967296)"), "", 0, "more numbers than can be");
    refuse(HEAD("|u1", "(4294967295, 4294967297, 3)"), "abc", 3, "than can be");
    refuse("{'descr': '|u1', 'fortran_order': True, 'shape': (1099511627776, 2)}",
           "abc", 3, "is cut short: 3 bytes of numbers");
}

static void numbers_that_are_not_finite(void **state) {
    (void)state;
    refuse(HEAD("<f4", "(2, 1)"), "\0\0\0\0\0\0\xc0\x7f", 8,
           "sample 1 holds nan; an input must be a finite 32-bit float");
    refuse(HEAD("<f2", "(2, 1)"), "\0\x7c\0\0", 4, "sample 0 holds inf");
    refuse(HEAD("<f8", "(1,)"), "\0\0\0\0\0\0\xe0\x7f", 8, "finite 32-bit float");
}

static void refuse_label(const char *options, const char *dictionary,
                         const char *numbers, size_t count, lathe_status status,
                         const char *text) {
    write_array("x.npy", HEAD("|u1", "(2,)"), "\3\4", 2);
    write_array("y.npy", dictionary, numbers, count);
    trial_refused("dataset/npy", trial_options(&scratch, options), NULL, status, text);
}

static void labels_that_do_not_match(void **state) {
    (void)state;
    refuse_label(BOTH, HEAD("|u1", "(3,)"), "\1\2\3", 3, LATHE_EDATA,
                 "labels: 3, inputs: 2 (");
    refuse_label(BOTH, HEAD("|i1", "(2,)"), "\1\xff", 2, LATHE_EDATA,
                 "y.npy: sample 1 has label -1; labels are whole numbers from 0 to "
                 "2147483646");
    refuse_label(BOTH, HEAD("<u8", "(2,)"),
                 "\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0", 16, LATHE_EDATA,
                 "sample 0 has label 1.8446744073709552e+19");
    refuse_label(BOTH, HEAD("|u1", "(2, 2)"), "\1\0\0\1", 4, LATHE_EDATA,
                 "y.npy: is 2 x 2; a class is one whole number a sample (one-hot: save "
                 "a.argmax(1))");
    refuse_label("{\"input\": \"@/x.npy\", \"label\": \"@/y.npy\", \"classes\": 3}",
                 HEAD("|u1", "(2,)"), "\1\3", 2, LATHE_EDATA,
                 "sample 1 has label 3; labels are whole numbers from 0 to 2");
    refuse_label("{\"input\": \"@/x.npy\", \"label\": \"@/y.npy\", \"classes\": 3}",
                 HEAD("<f4", "(2,)"), "\0\0\xc0\x3f\0\0\0\0", 8, LATHE_EDATA,
                 "sample 0 has label 1.5");
    refuse_label(BOTH, HEAD("<f4", "(2,)"), "\0\0\0\0\0\0\x80\xff", 8, LATHE_EDATA,
                 "sample 1 holds -inf; a label must be");
    refuse_label("{\"input\": \"@/x.npy\", \"classes\": 3}", HEAD("|u1", "(2,)"),
                 "\1\1", 2, LATHE_EINVAL, "classes is given without a label");
    refuse_label("{\"input\": \"@/z.npy\"}", HEAD("|u1", "(2,)"), "\1\1", 2,
                 LATHE_ENOTFOUND, "z.npy");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_that_are_no_numbers),
        cmocka_unit_test(what_is_no_npy_file),
        cmocka_unit_test(headers_that_are_cut_or_odd),
        cmocka_unit_test(lengths_that_do_not_fit),
        cmocka_unit_test(numbers_that_are_not_finite),
        cmocka_unit_test(labels_that_do_not_match),
    };
    return cmocka_run_group_tests_name("npy: refused", tests, begin, end);
}
