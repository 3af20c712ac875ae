/* SPDX-License-Identifier: MIT */
/* What csv writes, and how a file is gone on with. */
#include "support/bytes.h"
#include "support/fake_host.h"
#include "support/scratch.h"

#include <math.h>

#include "callback/csv/csv.c"

#define METRICS 6
#define HEADER "epoch,step,train/loss,validation/loss\n"

struct fixture {
    struct fake_host host; /* first: a host's context is its fake */
    void *self;
    struct scratch scratch;
    int is_homeless; /* no run directory */
    int64_t metric_count;
    lathe_metric_view metrics[METRICS];
    int logged; /* lines */
    struct bytes saved;
};

static struct fixture *fixture_of(const lathe_host *host) {
    return (struct fixture *)fake_of(host);
}

static int64_t fixture_metrics(const lathe_host *host) {
    return fixture_of(host)->metric_count;
}

static lathe_status fixture_metric_at(const lathe_host *host, int64_t i,
                                      lathe_metric_view *view) {
    if (i >= fixture_of(host)->metric_count) return LATHE_END;
    *view = fixture_of(host)->metrics[i];
    return LATHE_OK;
}

static const char *fixture_directory(const lathe_host *host) {
    struct fixture *f = fixture_of(host);
    return f->is_homeless ? NULL : f->scratch.directory;
}

static void fixture_log(const lathe_host *host, int32_t level, const char *text) {
    fixture_of(host)->logged++;
    fake_log(host, level, text);
}

static void add_metric(struct fixture *f, const char *name, double value,
                       int64_t step) {
    f->metrics[f->metric_count++] = (lathe_metric_view){
        .size = sizeof *f->metrics, .name = name, .value = value, .step = step};
}

static lathe_status create_with(struct fixture *f, const char *options) {
    fake_host_init(&f->host, options);
    fake_host_manifest(&f->host, "callback/csv");
    f->host.table.metrics = fixture_metrics;
    f->host.table.metric_at = fixture_metric_at;
    f->host.table.run_directory = fixture_directory;
    f->host.table.log = fixture_log;
    return lathe_ops_.create(&f->host.table, &f->self);
}

static lathe_status begin_at(struct fixture *f, int64_t step) {
    lathe_moment at = {.size = sizeof at, .step = step, .resumed = step > 0};
    assert_int_equal(create_with(f, "{}"), LATHE_OK);
    return lathe_ops_.run_begin(f->self, &at);
}

static void save_state(struct fixture *f) {
    lathe_writer to = bytes_writer(&f->saved);
    assert_int_equal(lathe_ops_.save(f->self, &to), LATHE_OK);
}

static lathe_status load_state(struct fixture *f, int64_t length) {
    f->saved.length = length;
    lathe_reader from = bytes_reader(&f->saved);
    return lathe_ops_.load(f->self, &from);
}

/* From what was saved. */
static lathe_status go_on_at(struct fixture *f, int64_t step) {
    const lathe_moment at = {.size = sizeof at, .step = step, .resumed = 1};
    assert_int_equal(create_with(f, "{}"), LATHE_OK);
    assert_int_equal(load_state(f, f->saved.length), LATHE_OK);
    return lathe_ops_.run_begin(f->self, &at);
}

static void end_process(struct fixture *f) {
    lathe_ops_.destroy(f->self);
    fake_host_finish(&f->host);
}

/* A run with one metric of training and one of validation. */
static void begin(struct fixture *f) {
    memset(f, 0, sizeof *f);
    scratch_init(&f->scratch);
    add_metric(f, "train/loss", 2, 0);
    add_metric(f, "validation/loss", 3, 0);
    add_metric(f, "test/loss", NAN, -1);
    assert_int_equal(begin_at(f, 0), LATHE_OK);
}

static void finish(struct fixture *f) {
    end_process(f);
    scratch_finish(&f->scratch);
}

static lathe_status validate(struct fixture *f, const char *split, int64_t step) {
    lathe_moment at = {
        .size = sizeof at, .epoch = 1 + step / 10, .step = step, .split = split};
    return lathe_ops_.validation_end(f->self, &at);
}

static lathe_status end_epoch(struct fixture *f, int64_t step) {
    lathe_moment at = {
        .size = sizeof at, .epoch = step / 10, .step = step, .split = "train"};
    return lathe_ops_.epoch_end(f->self, &at);
}

/* Validations of these values, each one step on from `first`. */
static void rows_from(struct fixture *f, int64_t first, int count) {
    for (int i = 0; i < count; i++) {
        f->metrics[1].value = (double)(first + i) / 4;
        assert_int_equal(validate(f, "validation", first + i), LATHE_OK);
    }
}

static void expect_file(struct fixture *f, const char *expected) {
    char text[4096];
    FILE *file = fopen(scratch_path(&f->scratch, "results.csv"), "r");
    if (!file) fail_msg("there is no results.csv");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, expected);
}

static void a_row_for_each_validation(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    rows_from(&f, 5, 2);
    assert_int_equal(end_epoch(&f, 10), LATHE_OK);
    assert_int_equal(validate(&f, "test", 10), LATHE_OK);
    f.metrics[0].value = 1.0 / 3;
    rows_from(&f, 20, 1);
    /* Read while the run goes on: rows are there at once. */
    expect_file(&f, HEADER "1,5,2,1.25\n1,6,2,1.5\n3,20,0.333333333,5\n");
    finish(&f);
}

static void a_row_for_each_epoch_without_validation(void **state) {
    (void)state;
    struct fixture f;
    memset(&f, 0, sizeof f);
    scratch_init(&f.scratch);
    add_metric(&f, "train/loss", 2, 0);
    add_metric(&f, "test/loss", NAN, -1);
    assert_int_equal(begin_at(&f, 0), LATHE_OK);
    assert_int_equal(end_epoch(&f, 10), LATHE_OK);
    f.metrics[0].value = 1e-12;
    assert_int_equal(end_epoch(&f, 20), LATHE_OK);
    assert_int_equal(validate(&f, "test", 20), LATHE_OK);
    expect_file(&f, "epoch,step,train/loss\n1,10,2\n2,20,1e-12\n");
    finish(&f);
}

static void columns_are_those_of_the_first_row(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    f.metrics[0].step = -1; /* no record of training yet */
    add_metric(&f, "validation/late", NAN, -1);
    add_metric(&f, "validation/a \"b\", c", -INFINITY, 0);
    rows_from(&f, 5, 1);
    f.metrics[0].step = f.metrics[3].step = 6;
    f.metrics[0].value = NAN;
    f.metrics[4].value = INFINITY;
    rows_from(&f, 6, 1);
    expect_file(&f,
                "epoch,step,train/loss,validation/loss,\"validation/a \"\"b\"\", c\"\n"
                "1,5,,1.25,-inf\n1,6,nan,1.5,inf\n");
    finish(&f);
}

/* A step that was skipped ends an epoch too, and is validated again. */
static void validations_of_one_step_have_a_row_each(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    rows_from(&f, 5, 1);
    rows_from(&f, 5, 1);
    expect_file(&f, HEADER "1,5,2,1.25\n1,5,2,1.25\n");
    finish(&f);
}

static void no_directory_is_said_once(void **state) {
    (void)state;
    struct fixture f;
    memset(&f, 0, sizeof f);
    scratch_init(&f.scratch);
    f.is_homeless = 1;
    assert_int_equal(begin_at(&f, 0), LATHE_OK);
    assert_int_equal(end_epoch(&f, 10), LATHE_OK);
    assert_int_equal(validate(&f, "validation", 10), LATHE_OK);
    assert_int_equal(f.logged, 1);
    assert_string_equal(f.host.logged,
                        "the run has no directory: results.csv is not written");
    finish(&f);
}

static void a_name_is_not_a_path(void **state) {
    (void)state;
    const char *const names[] = {"/etc/results.csv", "../results.csv", "a/b", "..",
                                 "."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct fixture f;
        char options[64];
        memset(&f, 0, sizeof f);
        snprintf(options, sizeof options, "{\"file\": \"%s\"}", names[i]);
        assert_int_equal(create_with(&f, options), LATHE_EINVAL);
        assert_non_null(strstr(f.host.failure, "a name without a path"));
        fake_host_finish(&f.host);
    }
}

/* ---- going on ---- */

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

/* ---- failures ---- */

static void a_directory_that_is_gone_fails_the_run(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    end_process(&f);
    char directory[256];
    strcpy(directory, f.scratch.directory);
    strcat(f.scratch.directory, "/gone");
    assert_int_equal(begin_at(&f, 0), LATHE_ECREATE);
    assert_non_null(strstr(f.host.failure, "results.csv cannot be created in "));
    strcpy(f.scratch.directory, directory);
    finish(&f);
}

static void a_full_disk_fails_the_run(void **state) {
    (void)state;
    struct fixture f;
    struct csv *csv;
    begin(&f);
    csv = f.self;
    rows_from(&f, 5, 1);
    int full = open("/dev/full", O_RDWR | O_APPEND);
    if (full < 0) fail_msg("there is no /dev/full");
    dup2(full, csv->fd);
    close(full);
    assert_int_equal(validate(&f, "validation", 6), LATHE_EIO);
    assert_string_equal(f.host.failure,
                        "a row of results.csv cannot be written: No space "
                        "left on device");
    expect_file(&f, HEADER "1,5,2,1.25\n");
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_for_each_validation),
        cmocka_unit_test(a_row_for_each_epoch_without_validation),
        cmocka_unit_test(columns_are_those_of_the_first_row),
        cmocka_unit_test(validations_of_one_step_have_a_row_each),
        cmocka_unit_test(no_directory_is_said_once),
        cmocka_unit_test(a_name_is_not_a_path),
        cmocka_unit_test(a_run_goes_on_without_doubles),
        cmocka_unit_test(a_run_that_begins_again_has_an_empty_file),
        cmocka_unit_test(rows_that_are_missing_are_told),
        cmocka_unit_test(other_columns_are_told),
        cmocka_unit_test(a_new_run_takes_nobodys_rows_away),
        cmocka_unit_test(quoted_columns_are_found_again),
        cmocka_unit_test(what_is_no_state_is_refused),
        cmocka_unit_test(a_directory_that_is_gone_fails_the_run),
        cmocka_unit_test(a_full_disk_fails_the_run),
    };
    return cmocka_run_group_tests_name("csv callback", tests, NULL, NULL);
}
