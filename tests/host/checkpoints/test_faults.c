/* SPDX-License-Identifier: MIT */
/* Saving while calls fail, are cut short, or the process dies at any of them: what
 * was whole before still is, or something newer. */
#include "host/checkpoints/saves.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "support/calls.h"

static int end_faults(void **state) {
    plan(NONE, 0, NULL, 0);
    return saves_finish(state);
}

/* ---- */

/* Steps 1 to 4, with step 2 the best and two kept. */
static lathe_status save_four(struct saves *saves, int64_t *done) {
    lathe_status status = LATHE_OK;
    checkpoints_keep(saves->checkpoints, 2);
    for (*done = 0; *done < 4 && !status; ++*done)
        status = saves_try(saves, *done + 1, *done == 1);
    if (status) --*done;
    return status;
}

static int count_calls(struct saves *saves) {
    int64_t done;
    plan(FAIL, EIO, NULL, -1);
    assert_int_equal(save_four(saves, &done), LATHE_OK);
    int calls = faults.calls;
    plan(NONE, 0, NULL, 0);
    scratch_run(&saves->scratch, "rm -r checkpoints");
    saves_open(saves, "one");
    return calls;
}

/* A failure is told and costs one checkpoint at most; the next attempt works. */
static void survives_a_failure_of_each_call(void **state) {
    struct saves *saves = *state;
    const int numbers[] = {EIO, ENOSPC, EDQUOT};
    const int calls = count_calls(saves);
    assert_in_range(calls, 30, 200);
    for (int turn = 0; turn < calls; turn++) {
        int64_t done;
        plan(FAIL, numbers[turn % 3], NULL, turn);
        lathe_status status = save_four(saves, &done);
        plan(NONE, 0, NULL, 0);
        if (status != LATHE_OK && status != LATHE_EIO && status != LATHE_ECREATE)
            fail_msg("call %d: status %d", turn, status);
        if (status && !strstr(saves->err.what, strerror(numbers[turn % 3])))
            fail_msg("call %d: %s", turn, saves->err.what);
        const int64_t newest = saves_newest(saves);
        if (newest < done && !(done == 0 && newest == -1))
            fail_msg("call %d: %d were saved, and %d is the newest", turn, (int)done,
                     (int)newest);
        for (int64_t step = done + 1; step <= 4; step++)
            saves_save(saves, step, step == 2);
        assert_int_equal(saves_newest(saves), 4);
        saves_save(saves, 5, false);
        saves_expect(saves, "2 5 best=2 last=5");
        scratch_run(&saves->scratch, "rm -r checkpoints");
        saves_open(saves, "one");
    }
}

static void goes_on_after_short_and_interrupted_writes(void **state) {
    struct saves *saves = *state;
    for (int turn = 0; turn < 8; turn++) {
        plan(turn % 2 ? CUT_SHORT : INTERRUPT, 0, "pwrite", turn / 2);
        saves_save(saves, turn, false);
        assert_int_equal(saves_newest(saves), turn);
    }
}

/* Runs `work` in a process of its own that may kill itself; the child's exit status,
 * -1: it was killed. */
static int in_child(struct saves *saves, int (*work)(struct saves *)) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) _exit(work(saves));
    int ending;
    assert_int_equal(waitpid(child, &ending, 0), child);
    return WIFEXITED(ending) ? WEXITSTATUS(ending) : -1;
}

/* What is saved is told to the parent by a file. */
static int save_and_tell(struct saves *saves) {
    const int fd = open(scratch_path(&saves->scratch, "told"),
                        O_WRONLY | O_CREAT | O_APPEND, 0666);
    checkpoints_keep(saves->checkpoints, 2);
    for (int64_t step = 1; step <= 4; step++) {
        if (saves_try(saves, step, step == 2)) return 1;
        if (write(fd, "x", 1) != 1) return 2;
    }
    return 0;
}

static void survives_death_at_each_call(void **state) {
    struct saves *saves = *state;
    const int calls = count_calls(saves);
    for (int turn = 0; turn < calls; turn++) {
        struct stat told = {0};
        plan(KILL, 0, NULL, turn);
        assert_int_equal(in_child(saves, save_and_tell), -1);
        plan(NONE, 0, NULL, 0);
        stat(scratch_path(&saves->scratch, "told"), &told);
        const int64_t newest = saves_newest(saves);
        if (newest < told.st_size && !(told.st_size == 0 && newest == -1))
            fail_msg("call %d: %d were saved, and %d is the newest", turn,
                     (int)told.st_size, (int)newest);
        for (int64_t step = newest < 0 ? 1 : newest; step <= 5; step++)
            saves_save(saves, step, step == 2);
        saves_expect(saves, "2 5 best=2 last=5");
        scratch_run(&saves->scratch, "rm -rf checkpoints told");
        saves_open(saves, "one");
    }
}

/* Tells each save by a byte. */
static int save_forever(struct saves *saves, int fd) {
    for (int64_t step = saves_newest(saves) + 1;; step++)
        if (saves_try(saves, step, false) || write(fd, "x", 1) != 1) return 1;
}

static void survives_death_at_any_instant(void **state) {
    struct saves *saves = *state;
    int64_t before = -1;
    for (int i = 0; i < 30; i++) {
        int ends[2];
        char told[1];
        assert_int_equal(pipe(ends), 0);
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) _exit(save_forever(saves, ends[1]));
        close(ends[1]);
        for (int told_count = 0; told_count <= i % 3; told_count++)
            assert_int_equal(read(ends[0], told, 1), 1);
        nanosleep(&(struct timespec){0, i * 137000L}, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(ends[0]);
        const int64_t newest = saves_newest(saves);
        assert_true(newest >= before + 1 + i % 3);
        before = newest;
    }
    assert_false(saves_was_told(saves, "not whole"));
}

static void deletes_nothing_before_the_next_is_whole(void **state) {
    struct saves *saves = *state;
    saves_save(saves, 1, false);
    plan(SPOIL, 0, "pwrite", 0);
    assert_int_equal(saves_try(saves, 2, false), LATHE_EIO);
    assert_non_null(strstr(saves->err.what, "reads back otherwise"));
    assert_non_null(strstr(saves->err.where, "/checkpoints/step-00000002.safetensors"));
    assert_non_null(strstr(saves->err.help, "/checkpoints/step-00000001.safetensors"));
    saves_expect(saves, "1 last=1");
    assert_int_equal(saves_newest(saves), 1);
}

static void tells_a_failure_once(void **state) {
    struct saves *saves = *state;
    plan(FAIL, EDQUOT, "pwrite", 0);
    assert_int_equal(saves_begin(saves, 1, false), LATHE_OK);
    while (checkpoints_is_busy(saves->checkpoints)) sched_yield();
    assert_int_equal(saves_begin(saves, 2, false), LATHE_EIO);
    assert_non_null(strstr(saves->err.what, "Disk quota exceeded"));
    assert_non_null(strstr(saves->err.what, "cannot write 4"));
    assert_int_equal(checkpoints_poll(saves->checkpoints, &saves->err), LATHE_OK);
    assert_int_equal(checkpoints_wait(saves->checkpoints, &saves->err), LATHE_OK);
    saves_save(saves, 2, false);
    saves_expect(saves, "2 last=2");
}

static void warns_of_links_and_old_files(void **state) {
    struct saves *saves = *state;
    saves_save(saves, 1, false);
    plan(FAIL, EPERM, "symlinkat", 0);
    saves_save(saves, 2, true);
    assert_true(saves_was_told(saves, "warning: cannot make checkpoints/last"));
    saves_expect(saves, "2 best=2 last=1");
    plan(FAIL, EPERM, "symlinkat", 1);
    saves_save(saves, 3, true); /* the best, though no link says so */
    saves_save(saves, 4, false);
    saves_expect(saves, "3 4 best=3 last=4"); /* made good */
    plan(FAIL, EACCES, "unlinkat", 1); /* the first clears the link's other name */
    saves_save(saves, 5, false);
    assert_true(
        saves_was_told(saves, "warning: cannot delete checkpoints/step-00000004"));
    saves_save(saves, 6, false);
    saves_expect(saves, "3 6 best=3 last=6");
}

static void says_that_it_waits(void **state) {
    struct saves *saves = *state;
    plan(SLEEP, 0, "pwrite", 0);
    assert_int_equal(saves_begin(saves, 1, false), LATHE_OK);
    assert_true(checkpoints_is_busy(saves->checkpoints));
    assert_int_equal(checkpoints_poll(saves->checkpoints, &saves->err), LATHE_OK);
    assert_int_equal(checkpoints_wait(saves->checkpoints, &saves->err), LATHE_OK);
    assert_false(checkpoints_is_busy(saves->checkpoints));
    assert_true(saves_was_told(saves, "waiting: the checkpoint of step 1 is still"));
}

/* A disk with room for a few checkpoints, then for none. */
static int fill_a_small_disk(struct saves *saves) {
    const char *directory = saves->scratch.directory;
    if (unshare(CLONE_NEWNS) || mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) ||
        mount("none", directory, "tmpfs", 0, "size=16k"))
        return 77;
    if (saves_try(saves, 1, false)) return 1; /* 5 kB in pages of 4 */
    if (!saves_was_told(saves, "warning: there is little room for checkpoints"))
        return 2;
    saves->checkpoints = NULL;
    saves_open(saves, "one");
    scratch_run(&saves->scratch, "head -c 4000 /dev/zero >filler");
    if (saves_try(saves, 2, false) != LATHE_EIO) return 3;
    if (!strstr(saves->err.what, "no room for a checkpoint: about ")) return 4;
    if (saves_newest(saves) != 1) return 5;
    saves_expect(saves, "1 last=1");
    scratch_run(&saves->scratch, "rm filler");
    return 0;
}

static void ends_well_on_a_full_disk(void **state) {
    const int status = in_child(*state, fill_a_small_disk);
    if (status == 77) skip();
    assert_int_equal(status, 0);
}

static void says_where_it_may_not_write(void **state) {
    struct saves *saves = *state;
    scratch_text(&saves->scratch, "checkpoints", "in the way");
    assert_int_equal(saves_try(saves, 1, false), LATHE_ECREATE);
    assert_non_null(strstr(saves->err.what, "its directory: Not a directory"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, saves_init, end_faults)
    const struct CMUnitTest tests[] = {
        TEST(survives_a_failure_of_each_call),
        TEST(goes_on_after_short_and_interrupted_writes),
        TEST(survives_death_at_each_call),
        TEST(survives_death_at_any_instant),
        TEST(deletes_nothing_before_the_next_is_whole),
        TEST(tells_a_failure_once),
        TEST(warns_of_links_and_old_files),
        TEST(says_that_it_waits),
        TEST(ends_well_on_a_full_disk),
        TEST(says_where_it_may_not_write),
    };
    return cmocka_run_group_tests_name("checkpoints and faults", tests, NULL, NULL);
}
