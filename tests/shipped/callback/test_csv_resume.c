/* SPDX-License-Identifier: MIT */
/* How csv goes on with a file. */
#include "csv.h"

/* Killed two steps after the checkpoint of step 6: steps 7 and 8 come again, once. */
static void a_run_goes_on_without_doubles(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    rows_from(&f, 5, 2);
    save_state(&f);
    rows_from(&f, 7, 2);
    end_process(&f);
    assert_int_equal(go_on_at(&f, 6), LATHE_OK);
    expect_file(&f, HEADER "1,5,2,1.25\n1,6,2,1.5\n");
    rows_from(&f, 7, 3);
    expect_file(&f, HEADER "1,5,2,1.25\n1,6,2,1.5\n1,7,2,1.75\n1,8,2,2\n1,9,2,2.25\n");
    assert_int_equal(f.logged, 0);
    finish(&f);
}

/* Killed before anything was saved. */
static void a_run_that_begins_again_has_an_empty_file(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    rows_from(&f, 5, 2);
    end_process(&f);
    assert_int_equal(begin_at(&f, 1), LATHE_OK);
    expect_file(&f, "");
    rows_from(&f, 5, 1);
    expect_file(&f, HEADER "1,5,2,1.25\n");
    finish(&f);
}

static void rows_that_are_missing_are_told(void **state) {
    (void)state;
    static const char whole[] = HEADER "1,5,2,1.25\n1,6,2,1.5\n1,7,2,1.75\n";
    const size_t header = strlen(HEADER);
    for (size_t length = 0; length < sizeof whole; length++) {
        struct fixture f;
        begin(&f);
        rows_from(&f, 5, 3);
        save_state(&f);
        end_process(&f);
        scratch_write(&f.scratch, "results.csv", whole, length);
        assert_int_equal(go_on_at(&f, 7), LATHE_OK);
        assert_int_equal(f.logged, length + 1 < sizeof whole);
        if (f.logged)
            assert_non_null(strstr(f.host.logged, "rows of results.csv are missing"));
        rows_from(&f, 8, 1);
        char expected[256] = HEADER;
        if (length >= header) memcpy(expected, whole, length);
        strcpy(strrchr(expected, '\n') + 1, "1,8,2,2\n");
        expect_file(&f, expected);
        finish(&f);
    }
}

/* When the run goes on, and not hours later when the next row is due. */
static void other_columns_are_told(void **state) {
    (void)state;
    static const struct {
        const char *header, *from;
    } others[] = {{"epoch,step,train/loss,validation/accuracy", "validation/accuracy"},
                  {"epoch,step,\"train/a \"\"b\"\"\",x", "\"train/a \"\"b\"\"\""},
                  {"epoch,step,train/los", "train/los"},
                  {"epoch,step,train/losses", "train/losses"},
                  {"epoch,step,", ""},
                  {"step,epoch,train/loss", "step"},
                  {"\"epoch\"", "\"epoch\""},
                  {"\x01\x02", "\x01\x02"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct fixture f;
        char text[256], expected[256];
        begin(&f);
        rows_from(&f, 5, 3);
        save_state(&f);
        end_process(&f);
        snprintf(text, sizeof text, "%s\n1,5,2\n", others[i].header);
        scratch_text(&f.scratch, "results.csv", text);
        assert_int_equal(go_on_at(&f, 7), LATHE_EDATA);
        snprintf(expected, sizeof expected,
                 "the columns of results.csv are %s; from \"%s\" on, this run has no "
                 "such numbers: move the file away, or name another one",
                 others[i].header, others[i].from);
        assert_string_equal(f.host.failure, expected);
        expect_file(&f, text);
        finish(&f);
    }
}

static void quoted_columns_are_found_again(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    add_metric(&f, "validation/a \"b\", c", 7, 0);
    rows_from(&f, 5, 1);
    save_state(&f);
    end_process(&f);
    f.metrics[2] = f.metrics[0]; /* the order of metrics may be another one */
    f.metrics[0] = f.metrics[3];
    assert_int_equal(go_on_at(&f, 5), LATHE_OK);
    f.metrics[2].value = 9;
    rows_from(&f, 6, 1);
    expect_file(&f, "epoch,step,train/loss,validation/loss,\"validation/a \"\"b\"\", "
                    "c\"\n1,5,2,1.25,7\n1,6,9,1.5,7\n");
    finish(&f);
}

static void a_new_run_takes_nobodys_rows_away(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    end_process(&f);
    scratch_text(&f.scratch, "results.csv", HEADER "1,5,2,1.25\n");
    assert_int_equal(begin_at(&f, 0), LATHE_ECREATE);
    assert_string_equal(f.host.failure,
                        "results.csv is there already, and has rows of another run");
    expect_file(&f, HEADER "1,5,2,1.25\n");
    finish(&f);
}

static void what_is_no_state_is_refused(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    save_state(&f);
    const int64_t whole = f.saved.length;
    for (int64_t length = 0; length < whole; length++)
        assert_int_equal(load_state(&f, length), LATHE_EDATA);
    f.saved.data[whole - 1] = (char)0x80; /* below zero */
    assert_int_equal(load_state(&f, whole), LATHE_EDATA);
    assert_string_equal(f.host.failure, "this is not the state of csv");
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_goes_on_without_doubles),
        cmocka_unit_test(a_run_that_begins_again_has_an_empty_file),
        cmocka_unit_test(rows_that_are_missing_are_told),
        cmocka_unit_test(other_columns_are_told),
        cmocka_unit_test(a_new_run_takes_nobodys_rows_away),
        cmocka_unit_test(quoted_columns_are_found_again),
        cmocka_unit_test(what_is_no_state_is_refused),
    };
    return cmocka_run_group_tests_name("csv callback, resumed", tests, NULL, NULL);
}
