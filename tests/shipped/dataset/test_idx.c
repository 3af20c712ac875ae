/* SPDX-License-Identifier: MIT */
#include "../../../plugins/dataset/idx/idx.c"

#include "trial.h"

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

static const char *in_scratch(const char *options) {
    return trial_options(&scratch, options);
}

#define IMAGES "{\"images\": \"@/images\"}"
#define BOTH "{\"images\": \"@/images\", \"labels\": \"@/labels\"}"

/* Three images of 2 x 2 bytes and their labels. */
static const char images[] = "\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x02"
                             "\x00\x33\x66\xff"
                             "\x01\x02\x03\x04"
                             "\x80\x81\x82\x83";
static const char labels[] = "\0\0\x08\x01\0\0\0\x03\x02\x00\x01";

static void write_both(void) {
    scratch_write(&scratch, "images", images, sizeof images - 1);
    scratch_write(&scratch, "labels", labels, sizeof labels - 1);
}

static void describes_images_and_labels(void **state) {
    (void)state;
    struct trial trial;
    write_both();
    trial_begin(&trial, "dataset/idx", in_scratch(BOTH), NULL);
    assert_int_equal(trial.status, LATHE_OK);
    assert_int_equal(trial.samples, 3);
    assert_int_equal(trial.field_count, 2);
    assert_string_equal(trial.names[0], "input");
    assert_int_equal(trial.fields[0].code, LATHE_FLOAT);
    assert_int_equal(trial.fields[0].bits, 32);
    assert_int_equal(trial.fields[0].rank, 2);
    assert_int_equal(trial.fields[0].shape[0], 2);
    assert_int_equal(trial.fields[0].shape[1], 2);
    assert_int_equal(trial.fields[0].classes, 0);
    assert_string_equal(trial.names[1], "label");
    assert_int_equal(trial.fields[1].code, LATHE_INT);
    assert_int_equal(trial.fields[1].bits, 32);
    assert_int_equal(trial.fields[1].rank, 0);
    assert_int_equal(trial.fields[1].classes, 3);
    trial_end(&trial);
}

static void bytes_become_parts_of_255(void **state) {
    (void)state;
    struct trial trial;
    write_both();
    trial_begin(&trial, "dataset/idx", in_scratch(BOTH), NULL);
    const int64_t indices[] = {2, 0, 2};
    assert_int_equal(trial_read(&trial, indices, 3), LATHE_OK);
    const int expected[] = {0x80, 0x81, 0x82, 0x83, 0,    0x33,
                            0x66, 255,  0x80, 0x81, 0x82, 0x83};
    for (int i = 0; i < 12; i++)
        assert_true(trial.input[i] == (float)(expected[i] / 255.0));
    assert_int_equal(trial.label.classes[0], 1);
    assert_int_equal(trial.label.classes[1], 2);
    assert_int_equal(trial.label.classes[2], 1);
    trial_end(&trial);
}

static void compressed_files_are_the_same_data(void **state) {
    (void)state;
    struct trial trial;
    write_both();
    scratch_run(&scratch, "gzip -kf images labels");
    trial_begin(
        &trial, "dataset/idx",
        in_scratch("{\"images\": \"@/images.gz\", \"labels\": \"@/labels.gz\"}"), NULL);
    assert_int_equal(trial.status, LATHE_OK);
    const int64_t index = 0;
    assert_int_equal(trial_read(&trial, &index, 1), LATHE_OK);
    assert_true(trial.input[1] == (float)(0x33 / 255.0));
    assert_int_equal(trial.label.classes[0], 2);
    trial_end(&trial);
}

static void mean_and_std_shift_and_scale(void **state) {
    (void)state;
    struct trial trial;
    write_both();
    trial_begin(&trial, "dataset/idx",
                in_scratch("{\"images\": \"@/images\", \"mean\": 0.5, \"std\": 0.25}"),
                NULL);
    const int64_t index = 0;
    assert_int_equal(trial_read(&trial, &index, 1), LATHE_OK);
    assert_int_equal(trial.field_count, 1);
    assert_true(trial.input[0] == -2);
    assert_true(trial.input[3] == 2);
    assert_true(trial.input[1] == (float)((0x33 / 255.0 - 0.5) / 0.25));
    trial_end(&trial);
}

#define PLACES 259 /* each byte, and a tail that no vector fills */

/* Every byte, to the last bit, whichever way the plugin takes from byte to float. */
static bool check_every_byte(const char *mean, const char *std) {
    struct trial trial;
    char options[128];
    unsigned char file[16 + 2 * PLACES] = {0, 0, 8, 3, 0, 0, 0,           2,
                                           0, 0, 0, 1, 0, 0, PLACES >> 8, PLACES & 255};
    for (int i = 0; i < 2 * PLACES; i++) file[16 + i] = (unsigned char)i;
    scratch_write(&scratch, "images", file, sizeof file);
    snprintf(options, sizeof options,
             "{\"images\": \"@/images\", \"mean\": %s, \"std\": %s}", mean, std);
    trial_begin(&trial, "dataset/idx", in_scratch(options), NULL);
    assert_int_equal(trial.status, LATHE_OK);
    const int64_t indices[] = {1, 0};
    assert_int_equal(trial_read(&trial, indices, 2), LATHE_OK);
    for (int i = 0; i < 2 * PLACES; i++) {
        const int byte = file[16 + (i + PLACES) % (2 * PLACES)];
        const double m = strtod(mean, NULL), d = strtod(std, NULL);
        const float expected = (float)((byte / 255.0 - m) / d);
        if (memcmp(&trial.input[i], &expected, sizeof expected) != 0)
            fail_msg("mean %s, std %s: byte %d is %a, not %a", mean, std, byte,
                     (double)trial.input[i], (double)expected);
    }
    const bool is_line = ((const struct idx *)trial.self)->is_line;
    trial_end(&trial);
    return is_line;
}

static void every_byte_is_right_to_the_last_bit(void **state) {
    static const char *const common[][2] = {
        {"0", "1"},           {"0.5", "0.5"},       {"0.1307", "0.3081"},
        {"0.2860", "0.3530"}, {"0.2860", "0.3529"}, {"0.1722", "0.3309"},
        {"0.485", "0.229"},   {"0.456", "0.224"},   {"0.406", "0.225"},
        {"0.4914", "0.2023"}, {"0.4822", "0.1994"}, {"0.4465", "0.2010"},
        {"0.4914", "0.2470"}, {"0.5071", "0.2675"}, {"0.4376821", "0.19803012"},
        {"-3", "1e-3"},       {"1e9", "1e-30"},     {"0", "1e30"}};
    (void)state;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        check_every_byte(common[i][0], common[i][1]);
    /* A mean that is a byte: that one becomes 0, and would not on a line. */
    assert_false(check_every_byte("0.0039215686274509803", "0.13"));
    assert_true(check_every_byte("0.1307", "0.3081"));
}

static void other_types_are_taken_as_they_are(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t count;
        float first, second;
    } cases[] = {
        {"\0\0\x09\x02\0\0\0\x01\0\0\0\x02\xff\x7f", 14, -1, 127},
        {"\0\0\x0b\x02\0\0\0\x01\0\0\0\x02\xff\xfe\x01\x02", 16, -2, 258},
        {"\0\0\x0c\x02\0\0\0\x01\0\0\0\x02\xff\xff\xff\xfd\x00\x01\x00\x00", 20, -3,
         65536},
        {"\0\0\x0d\x02\0\0\0\x01\0\0\0\x02\x3f\xc0\x00\x00\xc0\x00\x00\x00", 20, 1.5f,
         -2},
        {"\0\0\x0e\x02\0\0\0\x01\0\0\0\x02\x3f\xf8\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 28,
         1.5f, -2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trial trial;
        scratch_write(&scratch, "images", cases[i].bytes, cases[i].count);
        trial_begin(&trial, "dataset/idx", in_scratch(IMAGES), NULL);
        if (trial.status) fail_msg("%s", trial.host.failure);
        const int64_t index = 0;
        assert_int_equal(trial_read(&trial, &index, 1), LATHE_OK);
        assert_true(trial.input[0] == cases[i].first);
        assert_true(trial.input[1] == cases[i].second);
        trial_end(&trial);
    }
}

static void a_row_of_numbers_is_a_scalar_input(void **state) {
    (void)state;
    struct trial trial;
    scratch_write(&scratch, "images", labels, sizeof labels - 1);
    trial_begin(&trial, "dataset/idx", in_scratch(IMAGES), NULL);
    assert_int_equal(trial.fields[0].rank, 0);
    assert_int_equal(trial.samples, 3);
    trial_end(&trial);
}

static void refuse_images(const char *bytes, size_t count, const char *text) {
    scratch_write(&scratch, "images", bytes, count);
    trial_refused("dataset/idx", in_scratch(IMAGES), NULL, LATHE_EDATA, text);
}

static void refuses_what_is_no_idx_file(void **state) {
    (void)state;
    refuse_images("", 0, "images: is 0 bytes long");
    refuse_images("\0\0\x08", 3, "images: is 3 bytes long");
    refuse_images("PNG\r\n\x1a\n", 7,
                  "starts with 50 4e 47 0d; an IDX file starts with");
    refuse_images("\0\0\x0a\x01\0\0\0\x01\x01", 9, "starts with 00 00 0a 01");
    refuse_images("\0\0\x08\0\x01", 5, "has 0 dimensions");
    refuse_images("\0\0\x08\x09\0\0\0\x01\0\0\0\x01\0\0\0\x01", 16, "has 9 dimensions");
    refuse_images("\0\0\x08\x03\0\0\0\x01\0\0\0", 11,
                  "cut short in its header: 11 bytes, 3");
    refuse_images(
        "\0\0\x08\x07\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01"
        "\0\0\0\x01\x05",
        33, "has 7 dimensions; at most 6 can be read");
}

static void refuses_lengths_that_do_not_fit(void **state) {
    (void)state;
    refuse_images(images, sizeof images - 2,
                  "cut short: 27 bytes, its header (u8, 3 x 2 x 2) asks for 28");
    refuse_images(images, sizeof images, "too long: 29 bytes");
    /* 2^31 x 2^31 x 4 wraps to 0 bytes, 2^32-1 cubed to something. */
    refuse_images("\0\0\x08\x03\x80\0\0\0\x80\0\0\0\0\0\0\x04", 16,
                  "more values than can be");
    refuse_images("\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16,
                  "more values than can be");
    refuse_images("\0\0\x08\x02\0\0\0\0\0\0\0\x02", 12, "holds no values (0 x 2)");
    refuse_images("\0\0\x08\x03\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 16,
                  "holds no values");
    refuse_images("\0\0\x08\x02\0\0\0\x02\0\0\0\0", 12, "holds no values (2 x 0)");
}

static void refuses_numbers_that_are_not_finite(void **state) {
    (void)state;
    refuse_images("\0\0\x0d\x02\0\0\0\x02\0\0\0\x01\x3f\xc0\0\0\x7f\xc0\0\0", 20,
                  "sample 1 holds nan");
    refuse_images("\0\0\x0d\x01\0\0\0\x01\xff\x80\0\0", 12, "sample 0 holds -inf");
    refuse_images("\0\0\x0e\x01\0\0\0\x01\x7f\xe0\0\0\0\0\0\0", 16,
                  "finite 32-bit float");
}

static void refuse_labels(const char *bytes, size_t count, const char *options,
                          const char *text) {
    scratch_write(&scratch, "images", images, sizeof images - 1);
    scratch_write(&scratch, "labels", bytes, count);
    trial_refused("dataset/idx", in_scratch(options), NULL, LATHE_EDATA, text);
}

static void refuses_labels_that_do_not_match(void **state) {
    (void)state;
    refuse_labels("\0\0\x08\x01\0\0\0\x02\x02\x00", 10, BOTH, "labels: 2, images: 3");
    refuse_labels(images, sizeof images - 1, BOTH, "has 3 dimensions; labels have 1");
    refuse_labels("\0\0\x0d\x01\0\0\0\x01\x3f\xc0\0\0", 12, BOTH,
                  "holds f32; labels are");
    refuse_labels("\0\0\x09\x01\0\0\0\x03\x02\xff\x00", 11, BOTH,
                  "sample 1 has label -1");
    refuse_labels(
        labels, sizeof labels - 1,
        "{\"images\": \"@/images\", \"labels\": \"@/labels\", \"classes\": 2}",
        "sample 0 has label 2; labels are 0 to 1");
}

static void wide_labels_and_more_classes_than_are_seen(void **state) {
    (void)state;
    struct trial trial;
    scratch_write(&scratch, "images", images, sizeof images - 1);
    scratch_write(&scratch, "labels",
                  "\0\0\x0c\x01\0\0\0\x03\0\0\0\x07\0\0\x01\0\0\0\0\0", 20);
    trial_begin(&trial, "dataset/idx",
                in_scratch("{\"images\": \"@/images\", \"labels\": \"@/labels\", "
                           "\"classes\": 1000}"),
                NULL);
    assert_int_equal(trial.fields[1].classes, 1000);
    const int64_t indices[] = {1, 0};
    assert_int_equal(trial_read(&trial, indices, 2), LATHE_OK);
    assert_int_equal(trial.label.classes[0], 256);
    assert_int_equal(trial.label.classes[1], 7);
    trial_end(&trial);
}

static void says_what_is_missing(void **state) {
    (void)state;
    write_both();
    trial_refused("dataset/idx", in_scratch("{\"images\": \"@/imagse\"}"), NULL,
                  LATHE_ENOTFOUND, "imagse");
    trial_refused("dataset/idx",
                  in_scratch("{\"images\": \"@/images\", \"classes\": 3}"), NULL,
                  LATHE_EINVAL, "classes is given without labels");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_images_and_labels),
        cmocka_unit_test(bytes_become_parts_of_255),
        cmocka_unit_test(compressed_files_are_the_same_data),
        cmocka_unit_test(mean_and_std_shift_and_scale),
        cmocka_unit_test(every_byte_is_right_to_the_last_bit),
        cmocka_unit_test(other_types_are_taken_as_they_are),
        cmocka_unit_test(a_row_of_numbers_is_a_scalar_input),
        cmocka_unit_test(refuses_what_is_no_idx_file),
        cmocka_unit_test(refuses_lengths_that_do_not_fit),
        cmocka_unit_test(refuses_numbers_that_are_not_finite),
        cmocka_unit_test(refuses_labels_that_do_not_match),
        cmocka_unit_test(wide_labels_and_more_classes_than_are_seen),
        cmocka_unit_test(says_what_is_missing),
    };
    return cmocka_run_group_tests_name("idx", tests, begin, end);
}
