/* SPDX-License-Identifier: MIT */
#include "support/scratch.h"

#include "ring.h"

static const char *const functions[] = {"read", "step"};

static struct ring *make(void) {
    struct ring *ring = ring_create(functions, 2);
    assert_non_null(ring);
    assert_int_equal(ring_add_plugin(ring, "data.train"), 0);
    assert_int_equal(ring_add_plugin(ring, "optimizer sgd"), 1);
    return ring;
}

static void enter(struct ring *ring, int64_t step, int worker) {
    ring_enter(ring, ring_call(3, step, 1, 1, worker), worker == 0);
}

static void the_newest_come_first(void **state) {
    (void)state;
    struct ring *ring = make();
    struct ring_call call;
    assert_false(ring_last(ring, 0, &call));
    for (int64_t step = 0; step < 100; step++) {
        enter(ring, step, 0);
        ring_leave(ring, 0);
    }
    for (int i = 0; i < RING_CALLS; i++) {
        assert_true(ring_last(ring, i, &call));
        assert_int_equal(call.step, 99 - i);
    }
    assert_false(ring_last(ring, RING_CALLS, &call));
    assert_false(ring_last(ring, -1, &call));
    ring_destroy(ring);
}

static void calls_in_progress_are_nested(void **state) {
    (void)state;
    struct ring *ring = make();
    struct ring_call call;
    assert_false(ring_now(ring, 0, &call));
    for (int depth = 1; depth <= RING_DEPTH + 2; depth++) enter(ring, depth, 0);
    for (int depth = RING_DEPTH + 2; depth >= 1; depth--) {
        assert_true(ring_now(ring, 0, &call));
        assert_int_equal(call.step, depth < RING_DEPTH ? depth : RING_DEPTH);
        ring_leave(ring, 0);
    }
    assert_false(ring_now(ring, 0, &call));
    assert_false(ring_now(ring, -1, &call));
    assert_false(ring_now(ring, RING_WORKERS, &call));
    ring_destroy(ring);
}

static void a_worker_of_its_own_is_told_first(void **state) {
    (void)state;
    struct ring *ring = make();
    struct ring_call call;
    assert_false(ring_culprit(ring, 0, &call));
    enter(ring, 1, 2);
    enter(ring, 2, 5);
    assert_true(ring_culprit(ring, 5, &call));
    assert_int_equal(call.step, 2);
    assert_true(ring_culprit(ring, 0, &call));
    assert_int_equal(call.step, 1);
    assert_true(ring_culprit(ring, -1, &call));
    assert_int_equal(call.step, 1);
    ring_destroy(ring);
}

static void a_call_reads_as_a_sentence(void **state) {
    (void)state;
    struct ring *ring = make();
    char line[128];
    struct ring_call call = ring_call(3, 1407, 1, 1, 4);
    ring_describe(ring, &call, line, sizeof line);
    assert_string_equal(line, "optimizer sgd in step at epoch 3 step 1407 (thread 4)");
    call = ring_call(0, 0, 0, 0, 0);
    ring_describe(ring, &call, line, sizeof line);
    assert_string_equal(line, "data.train in read (thread 0)");
    assert_int_equal(ring_describe(ring, &call, line, 9), 8);
    assert_string_equal(line, "data.tra");
    call = ring_call(1, 2, 60000, 200, 0);
    ring_describe(ring, &call, line, sizeof line);
    assert_string_equal(line, "? in ? at epoch 1 step 2 (thread 0)");
    ring_destroy(ring);
}

static void plugins_beyond_the_last_share_its_place(void **state) {
    (void)state;
    struct ring *ring = make();
    char label[32];
    assert_int_equal(ring_add_plugin(ring, "optimizer sgd"), 1);
    for (int i = 2; i < 2 * RING_PLUGINS; i++) {
        snprintf(label, sizeof label, "callbacks[%d]", i);
        int at = ring_add_plugin(ring, label);
        assert_int_equal(at, i < RING_PLUGINS ? i : RING_PLUGINS - 1);
    }
    assert_string_equal(ring->plugins[RING_PLUGINS - 1], "one of the other plugins");
    ring_destroy(ring);
}

static void a_file_outlives_it(void **state) {
    (void)state;
    struct scratch scratch;
    struct ring *ring = make();
    char line[128];
    scratch_init(&scratch);
    const char *path = scratch_path(&scratch, RING_FILE);
    assert_false(ring_read_last(path, line, sizeof line));
    enter(ring, 7, 0);
    assert_true(ring_move(ring, path));
    assert_true(ring_read_last(path, line, sizeof line));
    assert_string_equal(line, "optimizer sgd in step at epoch 3 step 7 (thread 0)");
    ring_leave(ring, 0);
    enter(ring, 8, 1);
    ring_leave(ring, 1);
    ring_destroy(ring);
    assert_true(ring_read_last(path, line, sizeof line));
    assert_string_equal(line, "optimizer sgd in step at epoch 3 step 8 (thread 1)");
    assert_int_equal(truncate(path, sizeof(struct ring) - 1), 0);
    assert_false(ring_read_last(path, line, sizeof line));
    scratch_finish(&scratch);
}

static void a_file_that_cannot_be_leaves_all_as_it_was(void **state) {
    (void)state;
    struct ring *ring = make();
    struct ring_call call;
    enter(ring, 7, 0);
    assert_false(ring_move(ring, "/nowhere/at/all"));
    assert_true(ring_now(ring, 0, &call));
    assert_int_equal(call.step, 7);
    ring_destroy(ring);
}

static void foreign_bytes_are_refused(void **state) {
    (void)state;
    struct scratch scratch;
    static char bytes[sizeof(struct ring)];
    char line[128];
    scratch_init(&scratch);
    memset(bytes, 'x', sizeof bytes);
    const char *path = scratch_write(&scratch, RING_FILE, bytes, sizeof bytes);
    assert_false(ring_read_last(path, line, sizeof line));
    memcpy(bytes, "lathe/r1", 8);
    scratch_write(&scratch, RING_FILE, bytes, sizeof bytes);
    assert_false(ring_read_last(path, line, sizeof line));
    /* The right size, and nonsense all over: whatever it says, it ends in time. */
    struct ring *ring = make();
    memcpy(bytes, ring, 16);
    ring_destroy(ring);
    scratch_write(&scratch, RING_FILE, bytes, sizeof bytes);
    assert_true(ring_read_last(path, line, sizeof line));
    assert_true(strlen(line) < sizeof line);
    scratch_finish(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_come_first),
        cmocka_unit_test(calls_in_progress_are_nested),
        cmocka_unit_test(a_worker_of_its_own_is_told_first),
        cmocka_unit_test(a_call_reads_as_a_sentence),
        cmocka_unit_test(plugins_beyond_the_last_share_its_place),
        cmocka_unit_test(a_file_outlives_it),
        cmocka_unit_test(a_file_that_cannot_be_leaves_all_as_it_was),
        cmocka_unit_test(foreign_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
