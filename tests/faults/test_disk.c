/* SPDX-License-Identifier: MIT */
/* labels: no-tsan no-valgrind */
/* Whole runs on a disk that fails: at each call that writes, makes or renames a file of
 * the run, once or from then on, with each error that a disk has; and runs that are
 * killed in that call. */
#include "support/scratch.h"
#include "support/test.h"

#include "support/calls.h"

#include "faults/whole.h"

/* How the child tells what it was told: its exit status, and a file. */
static int run_and_tell(struct whole *whole, int threads) {
    struct outcome outcome = turn(whole_experiment, whole->run, threads, NULL);
    faults.fault = NONE;
    const char *parts[] = {outcome.error.what, outcome.error.where, outcome.error.help};
    FILE *file = fopen(scratch_path(&whole->scratch, "told"), "w");
    for (int i = 0; i < 3; i++) fprintf(file, "%s\n", parts[i]);
    fclose(file);
    return error_exit_code(outcome.status);
}

/* Its exit status; -1: it was killed. */
static int run_in_child(struct whole *whole, int threads) {
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) _exit(run_and_tell(whole, threads));
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        fail_msg("the run ended by signal %d", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int count_calls(struct whole *whole) {
    struct stat info;
    plan(FAIL, 0, NULL, -1);
    faults.under = whole->run;
    struct outcome outcome = turn(whole_experiment, whole->run, 1, NULL);
    const int calls = faults.calls;
    plan(NONE, 0, NULL, 0);
    assert_int_equal(outcome.status, LATHE_OK);
    assert_int_equal(stat(whole->run, &info), 0);
    finish(&outcome);
    whole_compare(whole, "counted");
    return calls;
}

/* What it was, where, and what can be done. */
static void check_told(struct whole *whole, int number, const char *when) {
    char *told = read_whole(whole->scratch.directory, "told"), *rest = told;
    const char *what = strsep(&rest, "\n"), *where = strsep(&rest, "\n");
    const bool has_help = strstr(rest, "lathe resume") || strstr(rest, "untouched");
    if (!strstr(what, strerror(number)) || !strstr(where, "/run") ||
        (whole_is_begun(whole) && !has_help))
        fail_msg("%s: it told\n%s\n%s\n%s", when, what, where, rest);
    free(told);
}

static void fail_at_each(bool stays) {
    static const int numbers[] = {EIO, ENOSPC, EDQUOT, EROFS};
    struct whole whole;
    char when[64];
    int failed = 0;
    whole_begin(&whole);
    const int calls = count_calls(&whole),
              stride = (IS_SANITIZED ? 5 : 1) * (stays ? 7 : 4);
    assert_in_range(calls, 60, 400);
    for (int turn = stays; turn < calls; turn += stride) {
        const int number = numbers[turn / stride % 4];
        snprintf(when, sizeof when, "%s at call %d%s", strerror(number), turn,
                 stays ? " and after" : "");
        plan(stays && turn % 2 ? CUT_SHORT : FAIL, number, NULL, turn);
        faults.stays = stays;
        const int code = run_in_child(&whole, 1 + turn % 2);
        plan(NONE, 0, NULL, 0);
        if (code != 0 && code != 73 && code != 74)
            fail_msg("%s: exit status %d", when, code);
        if (code) check_told(&whole, number, when);
        failed += code != 0;
        if (code)
            whole_go_on(&whole, 2 - turn % 2, NULL, when);
        else
            whole_compare(&whole, when); /* what failed can be done without */
    }
    assert_true(failed > calls / stride / 2);
    whole_end(&whole);
}

static void a_disk_fails_once_at_any_call(void **state) {
    (void)state;
    fail_at_each(false);
}

static void a_disk_is_full_from_any_call_on(void **state) {
    (void)state;
    fail_at_each(true);
}

static void killed_in_any_call(void **state) {
    struct whole whole;
    char when[64];
    (void)state;
    whole_begin(&whole);
    const int calls = count_calls(&whole);
    for (int turn = 0; turn < calls; turn += IS_SANITIZED ? 15 : 5) {
        snprintf(when, sizeof when, "killed in call %d", turn);
        plan(KILL, 0, NULL, turn);
        const int code = run_in_child(&whole, 1 + turn % 2);
        plan(NONE, 0, NULL, 0);
        if (code > 0) fail_msg("%s: exit status %d", when, code);
        whole_go_on(&whole, 2 - turn % 2, NULL, when);
    }
    whole_end(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disk_fails_once_at_any_call),
        cmocka_unit_test(a_disk_is_full_from_any_call_on),
        cmocka_unit_test(killed_in_any_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
