/* SPDX-License-Identifier: MIT */
#include "../../../plugins/dataset/subset/subset.c"

#include "trial.h"

/* The inner dataset: 1000 samples, sample i holds i and -i as input and i as label. It
 * notes what it was asked. */
struct numbers {
    int64_t samples; /* -1: a stream */
    uint32_t fields;
    int64_t calls, last_position, last_epoch, largest_rows;
    lathe_status read_status;
};

static struct numbers numbers;
static struct trial trial;

static lathe_status describe_numbers(void *self, const lathe_data_plan *plan) {
    const struct numbers *of = self;
    for (uint32_t i = 0; i < of->fields; i++) {
        lathe_field field = {.size = sizeof field,
                             .name = i ? "label" : "input",
                             .code = i ? LATHE_INT : LATHE_FLOAT,
                             .bits = 32,
                             .rank = i ? 0 : 2,
                             .shape = {2, 1},
                             .classes = i ? 1000 : 0};
        lathe_status status = plan->field(plan, &field);
        if (status) return status;
    }
    if (of->samples >= 0) plan->samples(plan, of->samples);
    return LATHE_OK;
}

static lathe_status read_numbers(void *self, const int64_t *indices,
                                 const lathe_batch *into) {
    struct numbers *of = self;
    float *input = into->fields[0].data;
    int32_t *label = into->fields[1].data;
    of->calls++;
    of->last_position = into->position;
    of->last_epoch = into->epoch;
    if (into->rows > of->largest_rows) of->largest_rows = into->rows;
    assert_int_equal(into->field_count, 2);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(into->fields[i].shape[0], into->rows);
    for (int64_t row = 0; row < into->rows; row++) {
        input[2 * row] = (float)indices[row];
        input[2 * row + 1] = (float)-indices[row];
        label[row] = (int32_t)indices[row];
    }
    return of->read_status;
}

static const lathe_dataset_ops numbers_ops = {
    .size = sizeof numbers_ops, .describe = describe_numbers, .read = read_numbers};

static void give_numbers(struct fake_host *host) {
    fake_host_set_plugin(host, "of", &numbers_ops, &numbers);
}

static int begin(void **state) {
    (void)state;
    numbers = (struct numbers){.samples = 1000, .fields = 2};
    return 0;
}

static void open_subset(const char *options) {
    trial_begin(&trial, "dataset/subset", options, give_numbers);
    if (trial.status) fail_msg("%s", trial.host.failure);
}

static void has_the_fields_of_the_inner_dataset_and_its_own_length(void **state) {
    (void)state;
    open_subset("{\"of\": {}, \"range\": [100, 350]}");
    assert_int_equal(trial.samples, 250);
    assert_int_equal(trial.field_count, 2);
    assert_string_equal(trial.names[0], "input");
    assert_int_equal(trial.fields[0].rank, 2);
    assert_int_equal(trial.fields[0].shape[0], 2);
    assert_string_equal(trial.names[1], "label");
    assert_int_equal(trial.fields[1].classes, 1000);
    trial_end(&trial);
}

static void reads_the_samples_of_its_range(void **state) {
    (void)state;
    open_subset("{\"of\": {}, \"range\": [100, 350]}");
    const int64_t indices[] = {0, 249, 7};
    assert_int_equal(trial_read(&trial, indices, 3), LATHE_OK);
    const int32_t expected[] = {100, 349, 107};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(trial.label.classes[i], expected[i]);
        assert_true(trial.input[2 * i] == (float)expected[i]);
        assert_true(trial.input[2 * i + 1] == (float)-expected[i]);
    }
    assert_int_equal(numbers.calls, 1);
    assert_int_equal(numbers.last_epoch, 1);
    trial_end(&trial);
}

static void takes_every_nth_sample(void **state) {
    (void)state;
    static const struct {
        const char *options;
        int64_t samples;
        int32_t last;
    } cases[] = {
        {"{\"of\": {}, \"range\": [10, 20], \"every\": 3}", 4, 19},
        {"{\"of\": {}, \"range\": [10, 19], \"every\": 3}", 3, 16},
        {"{\"of\": {}, \"range\": [10, 20], \"every\": 100}", 1, 10},
        {"{\"of\": {}, \"range\": [0, 1000], \"every\": 1}", 1000, 999},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_subset(cases[i].options);
        assert_int_equal(trial.samples, cases[i].samples);
        const int64_t index = trial.samples - 1;
        assert_int_equal(trial_read(&trial, &index, 1), LATHE_OK);
        assert_int_equal(trial.label.classes[0], cases[i].last);
        trial_end(&trial);
    }
}

static void large_batches_are_read_in_pieces(void **state) {
    (void)state;
    int64_t indices[600];
    for (int64_t i = 0; i < 600; i++) indices[i] = 599 - i;
    open_subset("{\"of\": {}, \"range\": [50, 650]}");
    assert_int_equal(trial_read(&trial, indices, 600), LATHE_OK);
    for (int i = 0; i < 600; i++) {
        assert_int_equal(trial.label.classes[i], 649 - i);
        assert_true(trial.input[2 * i + 1] == (float)(i - 649));
    }
    assert_int_equal(numbers.calls, 3);
    assert_int_equal(numbers.largest_rows, 256);
    assert_int_equal(numbers.last_position, 512);
    trial_end(&trial);
}

static void a_range_outside_the_data_says_its_size(void **state) {
    (void)state;
    static const char *const ranges[] = {"[0, 1001]", "[5, 5]", "[6, 5]",
                                         "[1000, 1001]"};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        char options[96], expected[96];
        snprintf(options, sizeof options, "{\"of\": {}, \"range\": %s}", ranges[i]);
        snprintf(expected, sizeof expected,
                 "range: %s is not a part of the 1000 samples", ranges[i]);
        trial_refused("dataset/subset", options, give_numbers, LATHE_EINVAL, expected);
    }
}

static void a_stream_and_too_many_fields_are_refused(void **state) {
    (void)state;
    numbers.samples = -1;
    trial_refused("dataset/subset", "{\"of\": {}, \"range\": [0, 5]}", give_numbers,
                  LATHE_EINVAL, "is a stream");
    numbers = (struct numbers){.samples = 1000, .fields = 17};
    trial_refused("dataset/subset", "{\"of\": {}, \"range\": [0, 5]}", give_numbers,
                  LATHE_EINVAL, "17 fields; at most 16");
}

static void a_failure_of_the_inner_dataset_is_passed_on(void **state) {
    (void)state;
    int64_t indices[600] = {0};
    open_subset("{\"of\": {}, \"range\": [0, 1000]}");
    numbers.read_status = LATHE_EDATA;
    assert_int_equal(trial_read(&trial, indices, 600), LATHE_EDATA);
    assert_int_equal(numbers.calls, 1);
    trial_end(&trial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(has_the_fields_of_the_inner_dataset_and_its_own_length,
                               begin),
        cmocka_unit_test_setup(reads_the_samples_of_its_range, begin),
        cmocka_unit_test_setup(takes_every_nth_sample, begin),
        cmocka_unit_test_setup(large_batches_are_read_in_pieces, begin),
        cmocka_unit_test_setup(a_range_outside_the_data_says_its_size, begin),
        cmocka_unit_test_setup(a_stream_and_too_many_fields_are_refused, begin),
        cmocka_unit_test_setup(a_failure_of_the_inner_dataset_is_passed_on, begin),
    };
    return cmocka_run_group_tests_name("subset", tests, NULL, NULL);
}
