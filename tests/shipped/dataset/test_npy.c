/* SPDX-License-Identifier: MIT */
/* What arrays become, and which are refused; the archive around them is in
 * test_npz.c. */
#include "../../../plugins/dataset/npy/npy.c"
#include "../../../plugins/dataset/npy/npy_array.c"
#include "../../../plugins/dataset/npy/npy_header.c"
#include "../../../plugins/dataset/npy/npy_samples.c"

#include "trial.h"

#include "npy_file.h"

static struct scratch scratch;
static struct trial trial;

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

/* Writes an array, version 1 of the format; the text's end is not part of it. */
static void write_array(const char *file, const char *dictionary, const void *numbers,
                        size_t count) {
    struct npy_file npy = npy_file_make(1, dictionary, numbers, count);
    scratch_write(&scratch, file, npy.bytes, npy.length);
}

static void open_well(const char *options) {
    trial_begin(&trial, "dataset/npy", trial_options(&scratch, options), NULL);
    if (trial.status) fail_msg("%s", trial.host.failure);
}

static void read_all(void) {
    int64_t indices[64];
    for (int64_t i = 0; i < trial.samples; i++) indices[i] = i;
    assert_int_equal(trial_read(&trial, indices, trial.samples), LATHE_OK);
}

static void expect_input(const float *expected, int count) {
    for (int i = 0; i < count; i++)
        if (trial.input[i] != expected[i])
            fail_msg("number %d is %g, not %g", i, (double)trial.input[i],
                     (double)expected[i]);
}

/* np.save of np.array([[1.5, -2, 3]], '<f4') by NumPy 1.24.2. */
static void a_file_of_numpys_own(void **state) {
    (void)state;
    char bytes[140];
    int head = snprintf(
        bytes, sizeof bytes, "%-127s\n",
        "\x93NUMPY\x01_v_{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }");
    assert_int_equal(head, 128);
    bytes[7] = bytes[9] = 0;
    memcpy(bytes + 128, "\0\0\xc0\x3f\0\0\0\xc0\0\0\x40\x40", 12);
    scratch_write(&scratch, "x.npy", bytes, sizeof bytes);
    open_well(INPUT);
    assert_int_equal(trial.samples, 1);
    assert_int_equal(trial.field_count, 1);
    assert_string_equal(trial.names[0], "input");
    assert_int_equal(trial.fields[0].rank, 1);
    assert_int_equal(trial.fields[0].shape[0], 3);
    read_all();
    expect_input((const float[]){1.5f, -2, 3}, 3);
    trial_end(&trial);
}

static void every_type_in_both_byte_orders(void **state) {
    (void)state;
    static const struct {
        const char *dictionary, *numbers;
        size_t count;
        float first, second;
    } cases[] = {
        {HEAD("|b1", "(2,)"), "\0\1", 2, 0, 1},
        {HEAD("|i1", "(2,)"), "\xff\x7f", 2, -1, 127},
        {HEAD("|u1", "(2,)"), "\xff\x7f", 2, 255, 127},
        {HEAD("<i2", "(2,)"), "\xfe\xff\2\1", 4, -2, 258},
        {HEAD(">i2", "(2,)"), "\xff\xfe\1\2", 4, -2, 258},
        {HEAD("<u2", "(2,)"), "\xfe\xff\2\1", 4, 65534, 258},
        {HEAD(">u2", "(2,)"), "\xff\xfe\1\2", 4, 65534, 258},
        {HEAD("<i4", "(2,)"), "\xfd\xff\xff\xff\0\0\1\0", 8, -3, 65536},
        {HEAD(">i4", "(2,)"), "\xff\xff\xff\xfd\0\1\0\0", 8, -3, 65536},
        {HEAD("=u4", "(2,)"), "\0\0\0\xff\1\0\0\0", 8, 4278190080.f, 1},
        {HEAD(">u4", "(2,)"), "\xff\0\0\0\0\0\0\1", 8, 4278190080.f, 1},
        {HEAD("<i8", "(2,)"), "\xfc\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\1\0\0\0", 16,
         -4, 4294967296.f},
        {HEAD(">i8", "(2,)"), "\xff\xff\xff\xff\xff\xff\xff\xfc\0\0\0\1\0\0\0\0", 16,
         -4, 4294967296.f},
        {HEAD("<u8", "(2,)"), "\0\0\0\0\0\0\0\x80\1\0\0\0\0\0\0\0", 16, 0x1p63f, 1},
        {HEAD(">u8", "(2,)"), "\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16, 0x1p63f, 1},
        {HEAD("<f2", "(2,)"), "\0\x3e\1\x80", 4, 1.5f, -0x1p-24f},
        {HEAD(">f2", "(2,)"), "\x7b\xff\x04\0", 4, 65504, 0x1p-14f},
        {HEAD("<f4", "(2,)"), "\0\0\xc0\x3f\0\0\0\xc0", 8, 1.5f, -2},
        {HEAD(">f4", "(2,)"), "\x3f\xc0\0\0\xc0\0\0\0", 8, 1.5f, -2},
        {HEAD("<f8", "(2,)"), "\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\0\xc0", 16, 1.5f, -2},
        {HEAD(">f8", "(2,)"), "\x3f\xf8\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 16, 1.5f, -2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_array("x.npy", cases[i].dictionary, cases[i].numbers, cases[i].count);
        open_well(INPUT);
        assert_int_equal(trial.samples, 2);
        assert_int_equal(trial.fields[0].rank, 0);
        read_all();
        expect_input(&cases[i].first, 1);
        expect_input((const float[]){cases[i].first, cases[i].second}, 2);
        trial_end(&trial);
    }
}

static void versions_spellings_and_orders_of_keys(void **state) {
    (void)state;
    static const char *const dictionaries[] = {
        HEAD("|u1", "(2, 3)"),
        "{\"shape\":(2L,3L,),\"fortran_order\":False,\"descr\":\"|u1\"}\n",
        "  {  'fortran_order' : False,'descr':'|u1' ,\n'shape':( 2 ,3 ) , } \t\n"};
    for (int version = 1; version <= 3; version++)
        for (int i = 0; i < 3; i++) {
            struct npy_file npy =
                npy_file_make(version, dictionaries[i], "\1\2\3\4\5\6", 6);
            scratch_write(&scratch, "x.npy", npy.bytes, npy.length);
            open_well(INPUT);
            assert_int_equal(trial.samples, 2);
            assert_int_equal(trial.fields[0].shape[0], 3);
            read_all();
            expect_input((const float[]){1, 2, 3, 4, 5, 6}, 6);
            trial_end(&trial);
        }
}

static void fortran_order_is_turned(void **state) {
    (void)state;
    /* np.arange(24).reshape(2, 3, 4), as np.asfortranarray has it */
    unsigned char numbers[48] = {0};
    float expected[24];
    for (int i = 0; i < 24; i++) {
        int a = i / 12, b = i / 4 % 3, c = i % 4;
        numbers[2 * (a + 2 * b + 6 * c)] = (unsigned char)i;
        expected[i] = (float)i;
    }
    write_array("x.npy", "{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3, 4)}",
                numbers, sizeof numbers);
    open_well(INPUT);
    assert_int_equal(trial.fields[0].shape[0], 3);
    assert_int_equal(trial.fields[0].shape[1], 4);
    read_all();
    expect_input(expected, 24);
    trial_end(&trial);
    write_array("x.npy", "{'descr': '|u1', 'fortran_order': True, 'shape': (3,)}",
                "\1\2\3", 3);
    open_well(INPUT);
    read_all();
    expect_input((const float[]){1, 2, 3}, 3);
    trial_end(&trial);
}

static void mean_and_std_shift_and_scale_inputs(void **state) {
    (void)state;
    write_array("x.npy", HEAD("|u1", "(2,)"), "\0\xff", 2);
    write_array("y.npy", HEAD("<f4", "(2,)"), "\0\0\xc0\x3f\0\0\0\xc0", 8);
    open_well("{\"input\": \"@/x.npy\", \"label\": \"@/y.npy\", \"std\": 255}");
    read_all();
    expect_input((const float[]){0, 1}, 2);
    assert_true(trial.label.values[0] == 1.5f && trial.label.values[1] == -2);
    trial_end(&trial);
    open_well("{\"input\": \"@/y.npy\", \"mean\": -2, \"std\": 0.5}");
    read_all();
    expect_input((const float[]){7, 0}, 2);
    trial_end(&trial);
}

static void compressed_files_are_the_same_data(void **state) {
    (void)state;
    write_array("x.npy", HEAD("|u1", "(2,)"), "\3\4", 2);
    scratch_run(&scratch, "gzip -kf x.npy");
    open_well("{\"input\": \"@/x.npy.gz\"}");
    read_all();
    expect_input((const float[]){3, 4}, 2);
    trial_end(&trial);
}

static void a_batch_is_in_the_order_asked_for(void **state) {
    (void)state;
    write_array("x.npy", HEAD("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6);
    write_array("y.npy", HEAD("<i8", "(3,)"),
                "\7\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 24);
    open_well(BOTH);
    const int64_t indices[] = {2, 0, 2};
    assert_int_equal(trial_read(&trial, indices, 3), LATHE_OK);
    expect_input((const float[]){5, 6, 1, 2, 5, 6}, 6);
    assert_int_equal(trial.label.classes[0], 1);
    assert_int_equal(trial.label.classes[1], 7);
    assert_int_equal(trial.label.classes[2], 1);
    trial_end(&trial);
}

/* ---- labels ---- */

/* Labels of two samples, and what they are. */
static void expect_label(const char *options, const char *dictionary,
                         const char *numbers, size_t count, int64_t classes,
                         uint32_t rank) {
    write_array("x.npy", HEAD("|u1", "(2,)"), "\3\4", 2);
    write_array("y.npy", dictionary, numbers, count);
    open_well(options);
    assert_int_equal(trial.field_count, 2);
    assert_string_equal(trial.names[1], "label");
    assert_int_equal(trial.fields[1].code, classes ? LATHE_INT : LATHE_FLOAT);
    assert_int_equal(trial.fields[1].bits, 32);
    assert_int_equal(trial.fields[1].classes, classes);
    assert_int_equal(trial.fields[1].rank, rank);
    read_all();
}

static void whole_numbers_are_classes(void **state) {
    (void)state;
    expect_label(BOTH, HEAD(">u2", "(2,)"), "\0\2\0\0", 4, 3, 0);
    assert_int_equal(trial.label.classes[0], 2);
    trial_end(&trial);
    expect_label(BOTH, HEAD("|b1", "(2, 1)"), "\1\0", 2, 2, 0);
    assert_int_equal(trial.label.classes[0], 1);
    trial_end(&trial);
    expect_label("{\"input\": \"@/x.npy\", \"label\": \"@/y.npy\", \"classes\": 10}",
                 HEAD("<f4", "(2,)"), "\0\0\x80\x3f\0\0\0\x40", 8, 10, 0);
    assert_int_equal(trial.label.classes[0], 1);
    assert_int_equal(trial.label.classes[1], 2);
    trial_end(&trial);
}

static void floats_are_numbers_to_come_near(void **state) {
    (void)state;
    expect_label(BOTH, HEAD("<f4", "(2, 1)"), "\0\0\xc0\x3f\0\0\0\xc0", 8, 0, 1);
    assert_int_equal(trial.fields[1].shape[0], 1);
    assert_true(trial.label.values[0] == 1.5f && trial.label.values[1] == -2);
    trial_end(&trial);
    expect_label("{\"input\": \"@/x.npy\", \"label\": \"@/y.npy\", \"classes\": 0}",
                 HEAD("|i1", "(2, 2)"), "\1\2\3\xff", 4, 0, 1);
    assert_int_equal(trial.fields[1].shape[0], 2);
    assert_true(trial.label.values[2] == 3 && trial.label.values[3] == -1);
    trial_end(&trial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_numpys_own),
        cmocka_unit_test(every_type_in_both_byte_orders),
        cmocka_unit_test(versions_spellings_and_orders_of_keys),
        cmocka_unit_test(fortran_order_is_turned),
        cmocka_unit_test(mean_and_std_shift_and_scale_inputs),
        cmocka_unit_test(compressed_files_are_the_same_data),
        cmocka_unit_test(a_batch_is_in_the_order_asked_for),
        cmocka_unit_test(whole_numbers_are_classes),
        cmocka_unit_test(floats_are_numbers_to_come_near),
    };
    return cmocka_run_group_tests_name("npy", tests, begin, end);
}
