/* SPDX-License-Identifier: MIT */
#include "../../../plugins/dataset/blobs/blobs.c"

#include "trial.h"

static struct trial trial;

static void open_blobs(const char *options) {
    trial_begin(&trial, "dataset/blobs", options, NULL);
    if (trial.status) fail_msg("%s", trial.host.failure);
}

static void describes_what_was_asked_for(void **state) {
    (void)state;
    open_blobs("{\"samples\": 50, \"features\": 7, \"classes\": 5}");
    assert_int_equal(trial.samples, 50);
    assert_int_equal(trial.field_count, 2);
    assert_int_equal(trial.fields[0].shape[0], 7);
    assert_int_equal(trial.fields[1].classes, 5);
    assert_int_equal(trial.fields[1].code, LATHE_INT);
    trial_end(&trial);
}

static void a_sample_is_a_function_of_its_index(void **state) {
    (void)state;
    float whole[30 * 5];
    int64_t indices[30];
    for (int64_t i = 0; i < 30; i++) indices[i] = i;
    open_blobs("{\"samples\": 30, \"features\": 5}");
    assert_int_equal(trial_read(&trial, indices, 30), LATHE_OK);
    memcpy(whole, trial.input, sizeof whole);
    for (int64_t i = 29; i >= 0; i--) {
        assert_int_equal(trial_read(&trial, &i, 1), LATHE_OK);
        assert_memory_equal(trial.input, whole + i * 5, 5 * sizeof(float));
        assert_int_equal(trial.label.classes[0], i % 3);
    }
    trial_end(&trial);
}

static void data_depends_on_its_own_seed_and_on_no_other(void **state) {
    (void)state;
    const int64_t index = 4;
    float first[2];
    open_blobs("{\"samples\": 30, \"seed\": 5}");
    trial_read(&trial, &index, 1);
    memcpy(first, trial.input, sizeof first);
    trial_end(&trial);
    open_blobs("{\"samples\": 9000, \"seed\": 5}");
    trial_read(&trial, &index, 1);
    assert_memory_equal(first, trial.input, sizeof first);
    trial_end(&trial);
    open_blobs("{\"samples\": 30, \"seed\": 6}");
    trial_read(&trial, &index, 1);
    assert_memory_not_equal(first, trial.input, sizeof first);
    trial_end(&trial);
}

static void without_spread_every_sample_is_its_centre(void **state) {
    (void)state;
    const int64_t indices[] = {0, 3, 1, 4};
    open_blobs("{\"samples\": 30, \"features\": 6, \"spread\": 0}");
    assert_int_equal(trial_read(&trial, indices, 4), LATHE_OK);
    assert_memory_equal(trial.input, trial.input + 6, 6 * sizeof(float));
    assert_memory_equal(trial.input + 12, trial.input + 18, 6 * sizeof(float));
    assert_memory_not_equal(trial.input, trial.input + 12, 6 * sizeof(float));
    trial_end(&trial);
}

/* 40 batches of 100 samples of 10 numbers around one centre. */
static void noise_is_normal_with_the_given_spread(void **state) {
    (void)state;
    double sum = 0, squares = 0, fourth = 0;
    const int count = 40000;
    open_blobs("{\"samples\": 4001, \"features\": 10, \"classes\": 1, \"spread\": 2}");
    const struct blobs *blobs = trial.self;
    for (int64_t batch = 0; batch < 40; batch++) {
        int64_t indices[100];
        for (int64_t i = 0; i < 100; i++) indices[i] = batch * 100 + i;
        assert_int_equal(trial_read(&trial, indices, 100), LATHE_OK);
        for (int i = 0; i < 1000; i++) {
            double value = (trial.input[i] - blobs->centres[i % 10]) / 2;
            sum += value;
            squares += value * value;
            fourth += value * value * value * value;
        }
    }
    /* Five standard deviations of each estimate. */
    assert_true(fabs(sum / count) < 5 / sqrt(count));
    assert_true(fabs(squares / count - 1) < 5 * sqrt(2.0 / count));
    assert_true(fabs(fourth / count - 3) < 5 * sqrt(96.0 / count));
    trial_end(&trial);
}

static void more_centres_than_anybody_waits_for_are_refused(void **state) {
    (void)state;
    static const char *const asked[][2] = {
        {"{\"samples\": 1, \"features\": 9007199254740991, \"classes\": 4096}",
         "at most 268435456, and 9007199254740991 times 4096 was asked for"},
        {"{\"samples\": 1, \"features\": 9007199254740991, \"classes\": 1}", "at most"},
        {"{\"samples\": 1, \"features\": 1, \"classes\": 9007199254740991}", "at most"},
        {"{\"samples\": 1, \"features\": 67108865, \"classes\": 4}", "at most"},
    };
    for (int i = 0; i < 4; i++)
        trial_refused("dataset/blobs", asked[i][0], NULL, LATHE_EINVAL, asked[i][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_what_was_asked_for),
        cmocka_unit_test(a_sample_is_a_function_of_its_index),
        cmocka_unit_test(data_depends_on_its_own_seed_and_on_no_other),
        cmocka_unit_test(without_spread_every_sample_is_its_centre),
        cmocka_unit_test(noise_is_normal_with_the_given_spread),
        cmocka_unit_test(more_centres_than_anybody_waits_for_are_refused),
    };
    return cmocka_run_group_tests_name("blobs", tests, NULL, NULL);
}
