/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <string.h>

#include "base/nearest.h"

static void expect_nearest(const char *wanted, const char *best) {
    static const char *const names[] = {"lr",       "betas",    "eps",   "weight_decay",
                                        "patience", "momentum", "adamw", "sgd"};
    struct nearest nearest;
    nearest_begin(&nearest, wanted);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        nearest_offer(&nearest, names[i]);
    const char *got = nearest.best ? nearest.best : "";
    if (strcmp(got, best) != 0) fail_msg("%s: \"%s\", not \"%s\"", wanted, got, best);
}

static void slips_are_understood(void **state) {
    (void)state;
    expect_nearest("patiense", "patience");
    expect_nearest("patence", "patience");
    expect_nearest("ptaience", "patience");
    expect_nearest("lrr", "lr");
    expect_nearest("rl", "lr");
    expect_nearest("mommentumm", "momentum");
    expect_nearest("sdg", "sgd");
}

static void case_and_dashes_hardly_count(void **state) {
    (void)state;
    expect_nearest("weight-decay", "weight_decay");
    expect_nearest("WEIGHT-DECAY", "weight_decay");
    expect_nearest("AdamW", "adamw");
    expect_nearest("LR", "lr");
    expect_nearest("Weight-Deacy", "weight_decay");
}

static void what_is_too_far_is_not_guessed(void **state) {
    (void)state;
    expect_nearest("momentum_of_sgd", "momentum");
    expect_nearest("weight", "weight_decay");
    expect_nearest("lr_of_sgd", "");
    expect_nearest("rate", "");
    expect_nearest("dropout", "");
    expect_nearest("", "");
    expect_nearest("xy", "");
    expect_nearest("a-name-that-is-so-long-that-nobody-could-have-meant-any-of-these-x",
                   "");
}

static void an_equal_name_beats_all_and_the_first_of_two_stays(void **state) {
    (void)state;
    struct nearest nearest;
    nearest_begin(&nearest, "Loss");
    nearest_offer(&nearest, "loss");
    assert_string_equal(nearest.best, "loss");
    nearest_offer(&nearest, "LOSS");
    assert_string_equal(nearest.best, "loss");
    nearest_offer(&nearest, "Loss");
    assert_string_equal(nearest.best, "Loss");
    assert_int_equal(nearest.distance, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slips_are_understood),
        cmocka_unit_test(case_and_dashes_hardly_count),
        cmocka_unit_test(what_is_too_far_is_not_guessed),
        cmocka_unit_test(an_equal_name_beats_all_and_the_first_of_two_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
