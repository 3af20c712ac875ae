/* SPDX-License-Identifier: MIT */
/* When early-stopping asks for the end of a run, and what it keeps of it. */
#include "support/bytes.h"
#include "support/fake_host.h"

#include "callback/early-stopping/early-stopping.c"

struct fixture {
    struct fake_host host; /* first: a host's context is its fake */
    void *self;
    double value;
    int32_t is_fresh;
    uint32_t flags; /* of the watched metric */
    char watched[64];
    char reason[256]; /* of the last request to stop; "" */
};

static struct fixture *fixture_of(const lathe_host *host) {
    return (struct fixture *)fake_of(host);
}

static int32_t fixture_watch(const lathe_host *host, const char *name) {
    snprintf(fixture_of(host)->watched, sizeof fixture_of(host)->watched, "%s", name);
    return 3;
}

static int32_t fixture_value(const lathe_host *host, int32_t watched, double *value) {
    assert_int_equal(watched, 3);
    *value = fixture_of(host)->value;
    return fixture_of(host)->is_fresh;
}

static lathe_status fixture_metric_at(const lathe_host *host, int64_t i,
                                      lathe_metric_view *view) {
    struct fixture *f = fixture_of(host);
    if (i > 1) return LATHE_END;
    view->name = i == 0 ? "train/loss" : f->watched;
    view->flags = i == 0 ? 0 : f->flags;
    return LATHE_OK;
}

static void fixture_request(const lathe_host *host, uint32_t what, const char *reason) {
    struct fixture *f = fixture_of(host);
    assert_int_equal(what, LATHE_REQUEST_STOP);
    snprintf(f->reason, sizeof f->reason, "%s", reason);
}

static void begin(struct fixture *f, const char *options) {
    memset(f, 0, sizeof *f);
    f->is_fresh = 1;
    fake_host_init(&f->host, options);
    fake_host_manifest(&f->host, "callback/early-stopping");
    f->host.table.watch = fixture_watch;
    f->host.table.value = fixture_value;
    f->host.table.metric_at = fixture_metric_at;
    f->host.table.request = fixture_request;
    assert_int_equal(lathe_ops_.create(&f->host.table, &f->self), LATHE_OK);
}

static void finish(struct fixture *f) {
    lathe_ops_.destroy(f->self);
    fake_host_finish(&f->host);
}

static lathe_status visit(struct fixture *f, const char *split, double value) {
    lathe_moment at = {.size = sizeof at, .split = split};
    f->value = value;
    return lathe_ops_.validation_end(f->self, &at);
}

/* Validates with each value in turn; the number of the visit that stops, 0: none
 * does. */
static int stops_at(struct fixture *f, const double *values, int count) {
    for (int i = 0; i < count; i++) {
        lathe_status status = visit(f, "validation", values[i]);
        assert_int_equal(status == LATHE_STOP, f->reason[0] != '\0');
        if (status == LATHE_STOP) return i + 1;
        assert_int_equal(status, LATHE_OK);
    }
    return 0;
}

#define STOPS_AT(f, ...)                                                               \
    stops_at(f, (const double[]){__VA_ARGS__},                                         \
             sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void patience_counts_visits_without_improvement(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"patience\": 2}");
    assert_int_equal(STOPS_AT(&f, 1, 2, 3, 4), 3);
    assert_string_equal(f.reason,
                        "validation/loss has not improved on 1 for 2 validations");
    finish(&f);
}

static void an_improvement_starts_the_count_again(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"patience\": 2}");
    assert_int_equal(STOPS_AT(&f, 5, 6, 4, 4, 3, 3, 3, 3), 7);
    finish(&f);
}

static void patience_1_stops_at_the_first_one(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"patience\": 1}");
    assert_int_equal(STOPS_AT(&f, 5, 5), 2);
    assert_string_equal(f.reason,
                        "validation/loss has not improved on 5 for 1 validation");
    finish(&f);
}

static void any_improvement_counts_unless_min_delta_is_given(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"patience\": 1}");
    assert_int_equal(STOPS_AT(&f, 1, 0.95, 0.9499999, 0.94999989), 0);
    finish(&f);
    begin(&f, "{\"patience\": 1, \"min_delta\": 0.1}");
    assert_int_equal(STOPS_AT(&f, 1, 0.75, 0.7), 3);
    finish(&f);
}

static void the_metric_tells_which_way_is_better(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"patience\": 1, \"watch\": \"validation/accuracy\"}");
    assert_string_equal(f.watched, "validation/accuracy");
    f.flags = LATHE_HIGHER_IS_BETTER;
    assert_int_equal(STOPS_AT(&f, 0.5, 0.6, 0.7, 0.69), 4);
    finish(&f);
}

static void the_experiment_may_say_which_way_is_better(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"patience\": 1, \"direction\": \"higher\"}");
    assert_int_equal(STOPS_AT(&f, 1, 2, 1.5), 3);
    finish(&f);
    begin(&f, "{\"patience\": 1, \"direction\": \"lower\"}");
    f.flags = LATHE_HIGHER_IS_BETTER;
    assert_int_equal(STOPS_AT(&f, 2, 1, 1.5), 3);
    finish(&f);
}

static void only_fresh_values_of_validation_count(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"patience\": 1}");
    assert_int_equal(visit(&f, "validation", 1), LATHE_OK);
    assert_int_equal(visit(&f, "test", 9), LATHE_OK);
    f.is_fresh = 0;
    assert_int_equal(visit(&f, "validation", 9), LATHE_OK);
    f.is_fresh = 1;
    assert_int_equal(visit(&f, "validation", 9), LATHE_STOP);
    finish(&f);
}

static void nan_is_no_improvement(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "{\"patience\": 2}");
    assert_int_equal(STOPS_AT(&f, NAN, 1, NAN, NAN), 4);
    finish(&f);
}

/* ---- state ---- */

static void save_to(struct fixture *f, struct bytes *bytes) {
    lathe_writer to = bytes_writer(bytes);
    assert_int_equal(lathe_ops_.save(f->self, &to), LATHE_OK);
}

static lathe_status load_from(struct fixture *f, struct bytes *bytes) {
    lathe_reader from = bytes_reader(bytes);
    return lathe_ops_.load(f->self, &from);
}

static void patience_goes_on_where_it_was(void **state) {
    (void)state;
    struct fixture f;
    struct bytes saved, again;
    begin(&f, "{}");
    assert_int_equal(STOPS_AT(&f, 1, 2, 3), 0);
    save_to(&f, &saved);
    finish(&f);

    begin(&f, "{}");
    assert_int_equal(load_from(&f, &saved), LATHE_OK);
    save_to(&f, &again);
    assert_int_equal(again.length, saved.length);
    assert_memory_equal(again.data, saved.data, (size_t)saved.length);
    assert_int_equal(STOPS_AT(&f, 1.5), 1);
    finish(&f);
}

static void a_stopped_run_goes_on_with_more_patience(void **state) {
    (void)state;
    struct fixture f;
    struct bytes saved;
    begin(&f, "{\"patience\": 1}");
    assert_int_equal(STOPS_AT(&f, 1, 2), 2);
    save_to(&f, &saved);
    finish(&f);

    begin(&f, "{\"patience\": 3}");
    assert_int_equal(load_from(&f, &saved), LATHE_OK);
    assert_int_equal(STOPS_AT(&f, 2, 2), 2);
    finish(&f);
}

static void the_best_of_another_metric_is_not_taken_over(void **state) {
    (void)state;
    struct fixture f;
    struct bytes saved;
    begin(&f, "{\"patience\": 1}");
    assert_int_equal(STOPS_AT(&f, 0.1), 0);
    save_to(&f, &saved);
    finish(&f);

    begin(&f, "{\"patience\": 1, \"watch\": \"validation/accuracy\"}");
    f.flags = LATHE_HIGHER_IS_BETTER;
    assert_int_equal(load_from(&f, &saved), LATHE_OK);
    assert_int_equal(STOPS_AT(&f, 0.05, 0.06), 0);
    finish(&f);
}

static void bad_state_is_refused_and_changes_nothing(void **state) {
    (void)state;
    struct fixture f;
    struct bytes good, bad, after;
    begin(&f, "{}");
    assert_int_equal(STOPS_AT(&f, 1, 2), 0);
    save_to(&f, &good);
    for (int64_t length = 0; length < good.length; length++) {
        bad = good;
        bad.length = length;
        assert_int_equal(load_from(&f, &bad), LATHE_EDATA);
    }
    bad = good;
    bad.data[bad.length++] = 0; /* longer than it was written */
    assert_int_equal(load_from(&f, &bad), LATHE_EDATA);
    bad = good;
    bad.data[0] = 'x'; /* somebody else's */
    assert_int_equal(load_from(&f, &bad), LATHE_EDATA);
    bad = good;
    memset(bad.data + bad.length - 8, 0xFF, 8); /* a count below 0 */
    assert_int_equal(load_from(&f, &bad), LATHE_EDATA);
    bad.data[bad.length - 1] = 0x7F; /* one that cannot grow */
    assert_int_equal(load_from(&f, &bad), LATHE_EDATA);
    assert_string_equal(f.host.failure, "this is not a state of early-stopping");
    save_to(&f, &after);
    assert_memory_equal(after.data, good.data, (size_t)good.length);
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patience_counts_visits_without_improvement),
        cmocka_unit_test(an_improvement_starts_the_count_again),
        cmocka_unit_test(patience_1_stops_at_the_first_one),
        cmocka_unit_test(any_improvement_counts_unless_min_delta_is_given),
        cmocka_unit_test(the_metric_tells_which_way_is_better),
        cmocka_unit_test(the_experiment_may_say_which_way_is_better),
        cmocka_unit_test(only_fresh_values_of_validation_count),
        cmocka_unit_test(nan_is_no_improvement),
        cmocka_unit_test(patience_goes_on_where_it_was),
        cmocka_unit_test(a_stopped_run_goes_on_with_more_patience),
        cmocka_unit_test(the_best_of_another_metric_is_not_taken_over),
        cmocka_unit_test(bad_state_is_refused_and_changes_nothing),
    };
    return cmocka_run_group_tests_name("early-stopping", tests, NULL, NULL);
}
