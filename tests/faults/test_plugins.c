/* SPDX-License-Identifier: MIT */
/* labels: no-tsan no-valgrind */
/* Plugins that fail on the way: data that cannot be read at some step, or is not
 * finite; state that a callback cannot save or load. The run stops there, says whose
 * fault it was, and ends in the same bits once that is mended. */
#include "support/scratch.h"
#include "support/test.h"

#include "faults/whole.h"

static const char *const mended[] = {"data.train.at=0", "data.train.act=fail",
                                     "data.train.of.inputs=[1, 2, 0.5]",
                                     "data.validation.fail_at=1000", NULL};

struct ending {
    lathe_status status;
    const char *reason, *what, *where;
    const char *overrides[4];
};

static void end_run(struct whole *whole, const struct ending *ending, int threads,
                    const char *when) {
    struct outcome found =
        turn(whole_experiment, whole->run, threads, ending->overrides);
    if (found.status != ending->status || strcmp(found.reason, ending->reason) != 0 ||
        !strstr(found.error.what, ending->what) ||
        !strstr(found.error.where, ending->where))
        fail_msg("%s: %d, %s: %s; %s", when, found.status, found.reason,
                 found.error.what, found.error.where);
    if (!strstr(found.error.help, "lathe resume") && ending->status != LATHE_EGATE)
        fail_msg("%s: its help is \"%s\"", when, found.error.help);
    finish(&found);
    char *status = read_whole(whole->run, "status.json"), code[32];
    snprintf(code, sizeof code, "\"exit_code\": %d", error_exit_code(ending->status));
    if (!strstr(status, code)) fail_msg("%s: not %s: %s", when, code, status);
    free(status);
}

/* Each micro-batch is two reads, one for each of two slices. */
static void data_cannot_be_read_at_some_step(void **state) {
    struct whole whole;
    char at[32];
    (void)state;
    whole_begin(&whole);
    turns_flags = LATHE_ALLOW_CHANGE;
    for (int nth = 1; nth < 50; nth += IS_SANITIZED ? 13 : 5) {
        const struct ending endings[] = {{LATHE_EIO,
                                          "failed",
                                          "cannot be read",
                                          "data.train train (slow.so 1.0.0) in read",
                                          {at}},
                                         {LATHE_EDATA,
                                          "failed",
                                          "",
                                          "data.train train (slow.so 1.0.0) in read",
                                          {at, "data.train.act=fail-silently"}}};
        snprintf(at, sizeof at, "data.train.at=%d", nth);
        end_run(&whole, &endings[nth % 2], 1 + nth / 5 % 2, at);
        whole_go_on(&whole, 2 - nth / 5 % 2, mended, at);
    }
    turns_flags = 0;
    whole_end(&whole);
}

static void validation_data_cannot_be_read(void **state) {
    const struct ending ending = {LATHE_EIO,
                                  "failed",
                                  "sample 6 cannot be read",
                                  "data.validation validation (ids.so 1.0.0) in read",
                                  {"data.validation.fail_at=6"}};
    struct whole whole;
    (void)state;
    whole_begin(&whole);
    turns_flags = LATHE_ALLOW_CHANGE;
    for (int threads = 1; threads <= 2; threads++) {
        end_run(&whole, &ending, threads, ending.what);
        whole_go_on(&whole, 3 - threads, mended, ending.what);
    }
    turns_flags = 0;
    whole_end(&whole);
}

/* One sample of an epoch is: the run ends before the step that it is in. */
static void data_is_not_finite(void **state) {
    const struct ending ending = {
        LATHE_EGATE,
        "nonfinite",
        " is inf",
        "training at epoch 1, the step after ",
        {"data.train.of.inputs=[1, 2, 0.5, 1, 2, 0.5, 1, 2, 0.5, 1, 2, 0.5, 1, 2, 0.5,"
         " 1, 2, 0.5, 1e38, 2, 0.5, 1, 2, 0.5, 1, 2]",
         "model.start=30"}};
    static const char *const other[] = {"data.train.of.inputs=[1, 2, 0.5]", NULL};
    struct whole whole;
    (void)state;
    whole_begin(&whole);
    turns_flags = LATHE_ALLOW_CHANGE;
    end_run(&whole, &ending, 2, ending.what);
    struct outcome found = turn(NULL, whole.run, 1, other);
    if (found.status != LATHE_OK)
        fail_msg("%s; %s", found.error.what, found.error.where);
    finish(&found);
    turns_flags = 0;
    whole_end(&whole);
}

static void state_cannot_be_saved(void **state) {
    struct whole whole;
    char at[32];
    (void)state;
    whole_begin(&whole);
    for (int count = 0; count < 10; count += 3) {
        const struct ending ending = {LATHE_EPLUGIN,
                                      "failed",
                                      "the ledger cannot be saved",
                                      "ledger (ledger.so 1.0.0) in save",
                                      {"callbacks.ledger.fails=save", at}};
        snprintf(at, sizeof at, "callbacks.ledger.at=%d", count);
        end_run(&whole, &ending, 1, at);
        whole_go_on(&whole, 2, whole_calm, at);
    }
    whole_end(&whole);
}

static void state_cannot_be_loaded(void **state) {
    static const char *const stopping[] = {"callbacks.chaos.act=request-stop",
                                           "callbacks.chaos.at=7", NULL};
    static const char *const failing[] = {"callbacks.ledger.fails=load",
                                          "callbacks.chaos.act=none", NULL};
    struct whole whole;
    (void)state;
    whole_begin(&whole);
    struct outcome found = turn(whole_experiment, whole.run, 1, stopping);
    assert_string_equal(found.reason, "stopped");
    finish(&found);
    scratch_run(&whole.scratch, "cp run/metrics.jsonl before");
    found = turn(NULL, whole.run, 1, failing);
    assert_int_equal(found.status, LATHE_EPLUGIN);
    assert_string_equal(found.error.what, "the ledger cannot be loaded");
    assert_non_null(strstr(found.error.where, "ledger (ledger.so 1.0.0) in load"));
    finish(&found);
    scratch_run(&whole.scratch, "cmp before run/metrics.jsonl");
    whole_go_on(&whole, 2, whole_calm, "loaded after all");
    whole_end(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_cannot_be_read_at_some_step),
        cmocka_unit_test(validation_data_cannot_be_read),
        cmocka_unit_test(data_is_not_finite),
        cmocka_unit_test(state_cannot_be_saved),
        cmocka_unit_test(state_cannot_be_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
