/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "base/duration.h"

static void durations_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum duration_unit unit;
        double amount;
    } cases[] = {
        {"10ep", DURATION_EPOCHS, 10},          {"0.5ep", DURATION_EPOCHS, 0.5},
        {"500step", DURATION_STEPS, 500},       {"1e3step", DURATION_STEPS, 1000},
        {"4096sample", DURATION_SAMPLES, 4096}, {"30min", DURATION_SECONDS, 1800},
        {"2h", DURATION_SECONDS, 7200},         {"1.5h", DURATION_SECONDS, 5400},
        {"45s", DURATION_SECONDS, 45},          {"1.0step", DURATION_STEPS, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct duration duration = {0};
        struct error err = {0};
        if (duration_parse(cases[i].text, &duration, &err) ||
            duration.unit != cases[i].unit || duration.amount != cases[i].amount)
            fail_msg("%s: unit %d amount %g %s", cases[i].text, (int)duration.unit,
                     duration.amount, err.what);
    }
}

static void faults_show_what_was_found_and_what_to_write(void **state) {
    (void)state;
    static const char units[] = "units are ep, step, sample, min, h, s";
    static const char most[] =
        "less than 9007199254740992 epochs, steps, samples or seconds";
    static const char form[] = "write a number and a unit: \"10ep\", \"500step\", "
                               "\"4096sample\", \"30min\", \"2h\" or \"45s\"";
    static const struct {
        const char *text, *what, *help;
    } cases[] = {
        {"10", "\"10\" is a bare number: a duration needs a unit",
         "write \"10ep\", \"10step\", \"10sample\", \"10min\", \"10h\" or \"10s\""},
        {"0.5", "\"0.5\" is a bare number: a duration needs a unit",
         "write \"0.5ep\", \"0.5min\", \"0.5h\" or \"0.5s\""},
        {"0", "\"0\" is a bare number: a duration needs a unit",
         "write a number greater than 0 and a unit: \"10ep\", \"500step\", "
         "\"4096sample\", \"30min\", \"2h\" or \"45s\""},
        {"10epoch", "\"10epoch\" has the unknown unit \"epoch\"",
         "did you mean \"10ep\"? Units are ep, step, sample, min, h, s"},
        {"5setps", "\"5setps\" has the unknown unit \"setps\"",
         "did you mean \"5step\"? Units are ep, step, sample, min, h, s"},
        {"10 ep", "\"10 ep\" has the unknown unit \" ep\"",
         "did you mean \"10ep\"? Units are ep, step, sample, min, h, s"},
        {"2m", "\"2m\" has the unknown unit \"m\"",
         "did you mean \"2min\"? Units are ep, step, sample, min, h, s"},
        {"2parsec", "\"2parsec\" has the unknown unit \"parsec\"", units},
        {"10EP", "\"10EP\" has the unknown unit \"EP\"",
         "did you mean \"10ep\"? Units are ep, step, sample, min, h, s"},
        {"", "\"\" is not a duration", form},
        {"ep", "\"ep\" is not a duration", form},
        {" 1ep", "\" 1ep\" is not a duration", form},
        {"0ep", "\"0ep\": a duration is greater than 0", ""},
        {"-1step", "\"-1step\": a duration is greater than 0", ""},
        {"2.5step", "\"2.5step\": a number of steps is whole", "write \"3step\""},
        {"0.5sample", "\"0.5sample\": a number of samples is whole",
         "write \"1sample\""},
        {"1e16step", "\"1e16step\" is too long", most},
        {"1e999ep", "\"1e999ep\" is too long", most},
        {"nanep", "\"nanep\" is not a duration", form},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct duration duration = {0};
        struct error err = {0};
        lathe_status status = duration_parse(cases[i].text, &duration, &err);
        if (status != LATHE_EINVAL || strcmp(err.what, cases[i].what) != 0 ||
            strcmp(err.help, cases[i].help) != 0)
            fail_msg("%s: %s | %s", cases[i].text, err.what, err.help);
        assert_int_equal(duration.unit, DURATION_NONE);
    }
}

/* Property: what is spelled from a unit and an amount is read back as both. */
static void what_is_spelled_is_read_back(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double factor;
        enum duration_unit unit;
    } units[] = {{"ep", 1, DURATION_EPOCHS},      {"step", 1, DURATION_STEPS},
                 {"sample", 1, DURATION_SAMPLES}, {"min", 60, DURATION_SECONDS},
                 {"h", 3600, DURATION_SECONDS},   {"s", 1, DURATION_SECONDS}};
    uint64_t bits = 7;
    for (int i = 0; i < 60000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        size_t u = (size_t)i % 6;
        double amount = (double)(bits >> 34) + 1;
        if (u != 1 && u != 2) amount /= (double)((bits & 1023) + 1);
        char text[64];
        snprintf(text, sizeof text, "%.17g%s", amount, units[u].name);
        struct duration duration;
        struct error err;
        if (duration_parse(text, &duration, &err)) fail_msg("%s: %s", text, err.what);
        assert_int_equal(duration.unit, units[u].unit);
        if (duration.amount != amount * units[u].factor) fail_msg("%s", text);
    }
}

static void steps_are_rounded_up(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t per_epoch, per_step, steps;
    } cases[] = {
        {"10ep", 430, 128, 4300},
        {"0.5ep", 5, 1, 3},
        {"0.07ep", 100, 1, 7},
        {"0.1ep", 30, 1, 3},
        {"0.001ep", 10, 1, 1},
        {"7step", 430, 128, 7},
        {"4096sample", 1, 128, 32},
        {"4097sample", 1, 128, 33},
        {"1sample", 1, 128, 1},
        {"30min", 430, 128, 0},
        {"1ep", 0, 128, 0},
        {"1sample", 9, 0, 0},
        {"9e15ep", INT64_MAX, 1, INT64_C(1) << 62},
        {"0.3333333333333333ep", 3000000000, 1, 1000000000},
        {"1.0000000001ep", 1000000000, 1, 1000000001},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct duration duration;
        assert_int_equal(duration_parse(cases[i].text, &duration, NULL), LATHE_OK);
        int64_t steps =
            duration_steps(&duration, cases[i].per_epoch, cases[i].per_step);
        if (steps != cases[i].steps)
            fail_msg("%s: %lld", cases[i].text, (long long)steps);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_read),
        cmocka_unit_test(faults_show_what_was_found_and_what_to_write),
        cmocka_unit_test(what_is_spelled_is_read_back),
        cmocka_unit_test(steps_are_rounded_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
