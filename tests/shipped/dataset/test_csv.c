/* SPDX-License-Identifier: MIT */
/* What columns and labels become; the grammar itself is in test_csv_parse.c. */
#include "../../../plugins/dataset/csv/csv.c"
#include "../../../plugins/dataset/csv/csv_labels.c"
#include "../../../plugins/dataset/csv/csv_parse.c"
#include "../../../plugins/dataset/csv/csv_table.c"

#include "trial.h"

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

#define FLOWERS                                                                        \
    "length,width,kind\n"                                                              \
    "5.1,3.5,setosa\n"                                                                 \
    "7,-3.2e0,virginica\n"                                                             \
    "6.3,3.3,\"setosa\"\n"
#define KINDS ", \"label\": \"kind\", \"classes\": [\"setosa\", \"virginica\"]"

/* `options` follows "file" in the object: ", \"label\": 2". */
static void open_csv(const char *content, const char *options) {
    char text[1024];
    scratch_text(&scratch, "data.csv", content);
    snprintf(text, sizeof text, "{\"file\": \"@/data.csv\"%s}", options);
    trial_begin(&trial, "dataset/csv", trial_options(&scratch, text), NULL);
    if (trial.status) fail_msg("%s", trial.host.failure);
}

static void read_all_samples(void) {
    int64_t indices[64];
    assert_true(trial.samples <= 64);
    for (int64_t i = 0; i < trial.samples; i++) indices[i] = i;
    assert_int_equal(trial_read(&trial, indices, trial.samples), LATHE_OK);
}

static void refuse(const char *content, const char *options, lathe_status status,
                   const char *expected) {
    char text[1024];
    scratch_text(&scratch, "data.csv", content);
    snprintf(text, sizeof text, "{\"file\": \"@/data.csv\"%s}", options);
    trial_refused("dataset/csv", trial_options(&scratch, text), NULL, status, expected);
}

static void refuse_data(const char *content, const char *expected) {
    refuse(content, ", \"label\": \"y\"", LATHE_EDATA, expected);
}

static void assert_floats(const float *values, const float *expected, int count) {
    for (int i = 0; i < count; i++)
        if (values[i] != expected[i])
            fail_msg("value %d is %g, not %g", i, (double)values[i],
                     (double)expected[i]);
}

static void assert_classes(const int32_t *expected, int count) {
    for (int i = 0; i < count; i++)
        assert_int_equal(trial.label.classes[i], expected[i]);
}

/* ---- columns ---- */

static void text_labels_are_the_classes_that_are_listed(void **state) {
    (void)state;
    open_csv(FLOWERS, KINDS);
    assert_int_equal(trial.samples, 3);
    assert_int_equal(trial.field_count, 2);
    assert_string_equal(trial.names[0], "input");
    assert_int_equal(trial.fields[0].rank, 1);
    assert_int_equal(trial.fields[0].shape[0], 2);
    assert_string_equal(trial.names[1], "label");
    assert_int_equal(trial.fields[1].code, LATHE_INT);
    assert_int_equal(trial.fields[1].bits, 32);
    assert_int_equal(trial.fields[1].rank, 0);
    assert_int_equal(trial.fields[1].classes, 2);
    assert_string_equal(trial.fields[0].names, "length\nwidth");
    assert_string_equal(trial.fields[1].names, "setosa\nvirginica");
    assert_non_null(strstr(trial.host.logged, "data.csv: 2 features: length, width"));
    read_all_samples();
    assert_floats(trial.input, (float[]){5.1f, 3.5f, 7, -3.2f, 6.3f, 3.3f}, 6);
    assert_classes((int32_t[]){0, 1, 0}, 3);
    trial_end(&trial);
}

/* A file with fewer of them would number them otherwise, and the loss would be of wrong
 * labels. */
static void text_labels_are_never_numbered_by_a_file(void **state) {
    (void)state;
    const char *label = ", \"label\": \"y\"";
    refuse("x,y\n1,b\n2,c\n3,a\n4,b\n", label, LATHE_EINVAL,
           "data.csv: labels that are text need an order, the same for every file; add "
           "\"classes\": [\"a\", \"b\", \"c\"]");
    refuse("x,y\n1,\"say \"\"a\"\"\"\n2,\"c\\\n\"\n", label, LATHE_EINVAL,
           "add \"classes\": [\"c\\\\\\u000a\", \"say \\\"a\\\"\"]");
    refuse("x,y\n1,+1\n2,-1\n", ", \"label\": \"y\", \"task\": \"classification\"",
           LATHE_EINVAL, "add \"classes\": [\"+1\", \"-1\"]");
    char many[4096] = "x,y\n";
    for (int i = 0; i < 200; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "1,class-%03d\n", i);
    refuse(many, label, LATHE_EINVAL, "[\"class-000\", \"class-001\", ");
    refuse(many, label, LATHE_EINVAL, "\", …] with all that there are");
    open_csv("x,y\n1,c\n2,c\n",
             ", \"label\": \"y\", \"classes\": [\"a\", \"b\", \"c\"]");
    assert_int_equal(trial.fields[1].classes, 3);
    read_all_samples();
    assert_classes((int32_t[]){2, 2}, 2);
    trial_end(&trial);
}

static void columns_in_another_order_are_the_same_features(void **state) {
    (void)state;
    open_csv("b,y,a,c\n2,0.5,1,3\n", ", \"label\": \"y\"");
    read_all_samples();
    assert_floats(trial.input, (float[]){1, 2, 3}, 3);
    assert_non_null(strstr(trial.host.logged, "data.csv: 3 features: a, b, c"));
    trial_end(&trial);
    open_csv("y,c,b,a\n0.5,3,2,1\n", ", \"label\": \"y\"");
    read_all_samples();
    assert_floats(trial.input, (float[]){1, 2, 3}, 3);
    trial_end(&trial);
    refuse("b,y,a,b\n1,2,3,4\n", ", \"label\": \"y\"", LATHE_EDATA,
           "has two columns \"b\": 0 and 3; use their indices");
    open_csv("b,y,a,b\n1,2,3,4\n", ", \"label\": \"y\", \"features\": [3, 0, 2]");
    read_all_samples();
    assert_floats(trial.input, (float[]){4, 1, 3}, 3);
    trial_end(&trial);
}

static void samples_are_read_in_any_order(void **state) {
    (void)state;
    open_csv(FLOWERS, KINDS);
    const int64_t indices[] = {2, 1};
    assert_int_equal(trial_read(&trial, indices, 2), LATHE_OK);
    assert_floats(trial.input, (float[]){6.3f, 3.3f, 7, -3.2f}, 4);
    assert_classes((int32_t[]){0, 1}, 2);
    trial_end(&trial);
}

static void number_labels_are_regression(void **state) {
    (void)state;
    open_csv("x,y\n1,0.5\n2,3\n", ", \"label\": \"y\"");
    assert_int_equal(trial.fields[1].code, LATHE_FLOAT);
    assert_int_equal(trial.fields[1].bits, 32);
    assert_int_equal(trial.fields[1].classes, 0);
    read_all_samples();
    assert_floats(trial.label.values, (float[]){0.5f, 3}, 2);
    trial_end(&trial);
}

static void numbers_can_be_classes_when_asked(void **state) {
    (void)state;
    open_csv("x,y\n1,2\n2,0.0\n", ", \"label\": \"y\", \"task\": \"classification\"");
    assert_int_equal(trial.fields[1].classes, 3);
    read_all_samples();
    assert_classes((int32_t[]){2, 0}, 2);
    trial_end(&trial);
}

static void listed_classes_keep_their_order(void **state) {
    (void)state;
    open_csv(FLOWERS, ", \"label\": \"kind\", "
                      "\"classes\": [\"virginica\", \"versicolor\", \"setosa\"]");
    assert_int_equal(trial.fields[1].classes, 3);
    read_all_samples();
    assert_classes((int32_t[]){2, 0, 2}, 3);
    trial_end(&trial);
    refuse(FLOWERS, ", \"label\": \"kind\", \"classes\": [\"setosa\"]", LATHE_EDATA,
           "data.csv:3: label \"virginica\" is not one of the 1 classes");
    refuse(FLOWERS, ", \"label\": \"kind\", \"classes\": [\"a\", \"a\"]", LATHE_EINVAL,
           "\"a\" is there twice");
    refuse(FLOWERS,
           ", \"label\": \"kind\", \"classes\": [\"a\"], \"task\": \"regression\"",
           LATHE_EINVAL, "task is \"regression\"");
}

static void features_are_chosen_by_name_or_index(void **state) {
    (void)state;
    open_csv("a,b,c,d\n1,2,3,4\n", ", \"label\": \"d\", \"features\": [\"c\", 0]");
    assert_int_equal(trial.fields[0].shape[0], 2);
    read_all_samples();
    assert_floats(trial.input, (float[]){3, 1}, 2);
    assert_floats(trial.label.values, (float[]){4}, 1);
    trial_end(&trial);
}

static void without_a_header_columns_are_indices(void **state) {
    (void)state;
    open_csv("1,2,3\n4,5,6\n", ", \"header\": \"none\", \"label\": 0");
    read_all_samples();
    assert_floats(trial.input, (float[]){2, 3, 5, 6}, 4);
    assert_floats(trial.label.values, (float[]){1, 4}, 2);
    trial_end(&trial);
    open_csv("1,2,3\n4,5,6\n", ", \"header\": \"none\", \"label\": \"2\"");
    read_all_samples();
    assert_floats(trial.label.values, (float[]){3, 6}, 2);
    trial_end(&trial);
}

static void without_a_label_there_is_only_input(void **state) {
    (void)state;
    open_csv("a,b\n1,2\n", "");
    assert_int_equal(trial.field_count, 1);
    assert_int_equal(trial.fields[0].shape[0], 2);
    read_all_samples();
    assert_floats(trial.input, (float[]){1, 2}, 2);
    trial_end(&trial);
}

static void other_delimiters_and_compressed_files(void **state) {
    (void)state;
    scratch_text(&scratch, "data.csv", "a;y\r\n1,5;2\r\n");
    trial_refused(
        "dataset/csv",
        trial_options(&scratch, "{\"file\": \"@/data.csv\", \"label\": \"y\", "
                                "\"delimiter\": \";\"}"),
        NULL, LATHE_EDATA, "data.csv:2: column \"a\": \"1,5\" is not a number");
    scratch_text(&scratch, "tabs", "a\ty\n1\t2\n");
    scratch_run(&scratch, "gzip -kf tabs");
    trial_begin(&trial, "dataset/csv",
                trial_options(&scratch, "{\"file\": \"@/tabs.gz\", \"label\": \"y\", "
                                        "\"delimiter\": \"\\t\"}"),
                NULL);
    assert_int_equal(trial.status, LATHE_OK);
    read_all_samples();
    assert_floats(trial.input, (float[]){1}, 1);
    trial_end(&trial);
}

/* What is counted by index may be called anything; a name is one line. */
static void what_columns_are_called_is_told(void **state) {
    (void)state;
    open_csv("\"b \"\"\nb\",a\n1,2\n", "");
    assert_string_equal(trial.fields[0].names, "a\nb \" b");
    trial_end(&trial);
    open_csv("b,a\n1,2\n", ", \"features\": [\"b\", \"a\"]");
    assert_string_equal(trial.fields[0].names, "b\na");
    trial_end(&trial);
    open_csv("b,a\n1,2\n", ", \"features\": [1, 0]");
    assert_null(trial.fields[0].names);
    trial_end(&trial);
    open_csv("3,4\n1,2\n", ", \"header\": \"none\", \"label\": 1");
    assert_null(trial.fields[0].names);
    assert_null(trial.fields[1].names);
    trial_end(&trial);
}

static void the_header_of_scikit_learn_names_classes(void **state) {
    (void)state;
    open_csv("2,3,setosa,versicolor,virginica\n1,2,3,2\n4,5,6,0\n",
             ", \"header\": \"sklearn\", \"label\": 3");
    assert_int_equal(trial.fields[1].classes, 3);
    assert_string_equal(trial.fields[1].names, "setosa\nversicolor\nvirginica");
    assert_null(trial.fields[0].names);
    assert_int_equal(trial.fields[0].shape[0], 3);
    read_all_samples();
    assert_classes((int32_t[]){2, 0}, 2);
    trial_end(&trial);
    const char *options = ", \"header\": \"sklearn\", \"label\": 2";
    refuse("3,2,a,b\n1,2,0\n1,2,1\n", options, LATHE_EDATA,
           "has 2 rows; its first line says 3");
    refuse("2,2,a,b\n1,2,0\n1,2,2\n", options, LATHE_EDATA,
           "data.csv:3: the label is not a whole number from 0 to 1");
    refuse("x,y\n1,2,0\n", options, LATHE_EDATA,
           "data.csv:1: a scikit-learn header is");
    refuse("2,2,a,b\n1,2\n", options, LATHE_EDATA,
           "data.csv:2: expected 3 fields, got 2");
}

/* ---- refusals ---- */

static void a_row_of_another_length_is_named(void **state) {
    (void)state;
    refuse_data("a,b,y\n1,2,3\n1,2\n", "data.csv:3: expected 3 fields, got 2");
    refuse_data("a,b,y\n1,2,3,\n", "data.csv:2: expected 3 fields, got 4");
    refuse_data("a,b,y\n1,2,3\n\n1,2,3\n", "data.csv:3: expected 3 fields, got 1");
    /* A record of two lines counts as two. */
    refuse_data("a,b,y\n\"1\n\",2\n", "data.csv:2: expected 3 fields, got 2");
    refuse_data("\"a\nx\",b,y\n1,2,3\n1\n", "data.csv:4: expected 3 fields, got 1");
}

static void a_field_that_is_no_number_is_named(void **state) {
    (void)state;
    refuse_data("age,y\n31,1\nabc,2\n",
                "data.csv:3: column \"age\": \"abc\" is not a number");
    refuse_data("age,y\n0x1f,2\n", "\"0x1f\" is not a number");
    refuse_data("age,y\n,2\n", "column \"age\": \"\" is a missing value");
    refuse_data("age,y\nNaN,2\n",
                "column \"age\": \"NaN\" is a missing value; fill it in");
    refuse_data("age,y\n-inf,2\n", "\"-inf\" is more than a 32-bit float can hold");
    refuse_data("age,y\n1e39,2\n", "\"1e39\" is more than a 32-bit float can hold");
    refuse("1,2\nx,2\n", ", \"header\": \"none\"", LATHE_EDATA,
           "data.csv:2: column 0: \"x\" is not a number");
}

static void a_label_that_is_no_number_is_named(void **state) {
    (void)state;
    refuse_data("x,y\n1,1\n2,2\n3,1o\n",
                "data.csv:4: label \"1o\" is not a number, as 2 of 3 labels are");
    refuse_data("x,y\n1,1\n2,nan\n",
                "data.csv:3: column \"y\": \"nan\" is a missing value");
    refuse("x,y\n1,a\n2,\n", ", \"label\": \"y\", \"task\": \"classification\"",
           LATHE_EDATA, "data.csv:3: column \"y\": \"\" is a missing value");
    refuse("x,y\n1,a\n", ", \"label\": \"y\", \"task\": \"regression\"", LATHE_EDATA,
           "data.csv:2: column \"y\": \"a\" is not a number");
}

static void a_missing_column_has_a_nearest_name(void **state) {
    (void)state;
    refuse(FLOWERS, ", \"label\": \"knid\"", LATHE_EINVAL,
           "has no column \"knid\"; did you mean \"kind\"?");
    refuse(FLOWERS, ", \"label\": \"species\"", LATHE_EINVAL,
           "has no column \"species\"; its 3 columns are \"length\" to \"kind\"");
    refuse(FLOWERS, ", \"label\": \"kind\", \"features\": [\"length\", \"widht\"]",
           LATHE_EINVAL, "did you mean \"width\"?");
    refuse(FLOWERS, ", \"label\": 3", LATHE_EINVAL,
           "no column 3; its columns are 0 to 2");
    refuse("1,2\n", ", \"header\": \"none\", \"label\": \"y\"", LATHE_EINVAL,
           "\"y\" is a name, but header: \"none\" gives columns none");
    refuse("a,a\n1,2\n", ", \"label\": \"a\"", LATHE_EDATA,
           "has two columns \"a\": 0 and 1");
    refuse("a,b\n1,2\n", ", \"label\": \"a\", \"features\": [\"b\", \"a\"]",
           LATHE_EINVAL, "features.1 is the label too");
}

static void a_file_without_rows_or_columns_is_refused(void **state) {
    (void)state;
    refuse_data("", "data.csv: holds no rows");
    refuse_data("a,y\n", "data.csv: holds no rows");
    refuse_data("\n\n", "data.csv: holds no rows");
    refuse_data("y\n1\n", "has no column but the label; is the delimiter right?");
    refuse_data("a,y\n\"1,2\n3,4\n",
                "data.csv:2: the quote that opens here is never closed");
    trial_refused("dataset/csv", trial_options(&scratch, "{\"file\": \"@/none.csv\"}"),
                  NULL, LATHE_ENOTFOUND, "none.csv");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_labels_are_the_classes_that_are_listed),
        cmocka_unit_test(text_labels_are_never_numbered_by_a_file),
        cmocka_unit_test(columns_in_another_order_are_the_same_features),
        cmocka_unit_test(samples_are_read_in_any_order),
        cmocka_unit_test(number_labels_are_regression),
        cmocka_unit_test(numbers_can_be_classes_when_asked),
        cmocka_unit_test(listed_classes_keep_their_order),
        cmocka_unit_test(features_are_chosen_by_name_or_index),
        cmocka_unit_test(without_a_header_columns_are_indices),
        cmocka_unit_test(without_a_label_there_is_only_input),
        cmocka_unit_test(other_delimiters_and_compressed_files),
        cmocka_unit_test(what_columns_are_called_is_told),
        cmocka_unit_test(the_header_of_scikit_learn_names_classes),
        cmocka_unit_test(a_row_of_another_length_is_named),
        cmocka_unit_test(a_field_that_is_no_number_is_named),
        cmocka_unit_test(a_label_that_is_no_number_is_named),
        cmocka_unit_test(a_missing_column_has_a_nearest_name),
        cmocka_unit_test(a_file_without_rows_or_columns_is_refused),
    };
    return cmocka_run_group_tests_name("csv", tests, begin, end);
}
