/* SPDX-License-Identifier: MIT */
/* A run that csv writes of, without a session. */
#ifndef TESTS_SHIPPED_CALLBACK_CSV_H
#define TESTS_SHIPPED_CALLBACK_CSV_H

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

static inline struct fixture *fixture_of(const lathe_host *host) {
    return (struct fixture *)fake_of(host);
}

static inline int64_t fixture_metrics(const lathe_host *host) {
    return fixture_of(host)->metric_count;
}

static inline lathe_status fixture_metric_at(const lathe_host *host, int64_t i,
                                             lathe_metric_view *view) {
    if (i >= fixture_of(host)->metric_count) return LATHE_END;
    *view = fixture_of(host)->metrics[i];
    return LATHE_OK;
}

static inline const char *fixture_directory(const lathe_host *host) {
    struct fixture *f = fixture_of(host);
    return f->is_homeless ? NULL : f->scratch.directory;
}

static inline void fixture_log(const lathe_host *host, int32_t level,
                               const char *text) {
    fixture_of(host)->logged++;
    fake_log(host, level, text);
}

static inline void add_metric(struct fixture *f, const char *name, double value,
                              int64_t step) {
    f->metrics[f->metric_count++] = (lathe_metric_view){
        .size = sizeof *f->metrics, .name = name, .value = value, .step = step};
}

static inline lathe_status create_with(struct fixture *f, const char *options) {
    fake_host_init(&f->host, options);
    fake_host_manifest(&f->host, "callback/csv");
    f->host.table.metrics = fixture_metrics;
    f->host.table.metric_at = fixture_metric_at;
    f->host.table.run_directory = fixture_directory;
    f->host.table.log = fixture_log;
    return lathe_ops_.create(&f->host.table, &f->self);
}

static inline lathe_status begin_at(struct fixture *f, int64_t step) {
    lathe_moment at = {.size = sizeof at, .step = step, .resumed = step > 0};
    assert_int_equal(create_with(f, "{}"), LATHE_OK);
    return lathe_ops_.run_begin(f->self, &at);
}

static inline void save_state(struct fixture *f) {
    lathe_writer to = bytes_writer(&f->saved);
    assert_int_equal(lathe_ops_.save(f->self, &to), LATHE_OK);
}

static inline lathe_status load_state(struct fixture *f, int64_t length) {
    f->saved.length = length;
    lathe_reader from = bytes_reader(&f->saved);
    return lathe_ops_.load(f->self, &from);
}

/* From what was saved. */
static inline lathe_status go_on_at(struct fixture *f, int64_t step) {
    const lathe_moment at = {.size = sizeof at, .step = step, .resumed = 1};
    assert_int_equal(create_with(f, "{}"), LATHE_OK);
    assert_int_equal(load_state(f, f->saved.length), LATHE_OK);
    return lathe_ops_.run_begin(f->self, &at);
}

static inline void end_process(struct fixture *f) {
    lathe_ops_.destroy(f->self);
    fake_host_finish(&f->host);
}

/* A run with one metric of training and one of validation. */
static inline void begin(struct fixture *f) {
    memset(f, 0, sizeof *f);
    scratch_init(&f->scratch);
    add_metric(f, "train/loss", 2, 0);
    add_metric(f, "validation/loss", 3, 0);
    add_metric(f, "test/loss", NAN, -1);
    assert_int_equal(begin_at(f, 0), LATHE_OK);
}

static inline void finish(struct fixture *f) {
    end_process(f);
    scratch_finish(&f->scratch);
}

static inline lathe_status validate(struct fixture *f, const char *split,
                                    int64_t step) {
    lathe_moment at = {
        .size = sizeof at, .epoch = 1 + step / 10, .step = step, .split = split};
    return lathe_ops_.validation_end(f->self, &at);
}

static inline lathe_status end_epoch(struct fixture *f, int64_t step) {
    lathe_moment at = {
        .size = sizeof at, .epoch = step / 10, .step = step, .split = "train"};
    return lathe_ops_.epoch_end(f->self, &at);
}

/* Validations of these values, each one step on from `first`. */
static inline void rows_from(struct fixture *f, int64_t first, int count) {
    for (int i = 0; i < count; i++) {
        f->metrics[1].value = (double)(first + i) / 4;
        assert_int_equal(validate(f, "validation", first + i), LATHE_OK);
    }
}

static inline void expect_file(struct fixture *f, const char *expected) {
    char text[4096];
    FILE *file = fopen(scratch_path(&f->scratch, "results.csv"), "r");
    if (!file) fail_msg("there is no results.csv");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, expected);
}

#endif
