/* SPDX-License-Identifier: MIT */
/* The directory of a run: made or refused, written, taken back. */
#include "support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pthread.h>
#include <signal.h>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "json.h"
#include "rundir.h"

struct place {
    char path[64]; /* a directory of the test's own, and the current one */
};

static int enter(void **state) {
    static struct place place;
    strcpy(place.path, "/var/tmp/test-rundir-XXXXXX");
    *state = &place;
    return !mkdtemp(place.path) || chdir(place.path);
}

static int leave(void **state) {
    struct place *place = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", place->path);
    return chdir("/") || system(command);
}

static struct rundir *create(const char *path) {
    struct rundir *rundir = NULL;
    struct error err = {0};
    if (rundir_create(path, &rundir, &err)) fail_msg("%s: %s", err.where, err.what);
    return rundir;
}

static void expect_content(const char *path, const char *expected) {
    char *content = NULL;
    struct error err = {0};
    if (file_read(path, 1 << 20, &content, NULL, &err)) fail_msg("%s", err.what);
    assert_string_equal(content, expected);
    free(content);
}

static int entries(const char *path) {
    DIR *list = opendir(path);
    int count = -2;
    if (!list) return -1;
    while (readdir(list)) count++;
    closedir(list);
    return count;
}

static void makes_missing_directories(void **state) {
    struct place *place = *state;
    char expected[96];
    struct rundir *rundir = create("a/b/c");
    snprintf(expected, sizeof expected, "%s/a/b/c", place->path);
    assert_string_equal(rundir_path(rundir), expected);
    assert_int_equal(entries("a/b/c"), 1); /* status.json */
    rundir_close(rundir);
}

static void takes_an_empty_directory(void **state) {
    (void)state;
    assert_int_equal(mkdir("empty", 0755), 0);
    struct rundir *rundir = create("empty");
    rundir_discard(rundir);
    rundir_close(rundir);
    assert_int_equal(entries("empty"), 0); /* it was not ours to remove */
}

static void refuses_what_is_not_empty(void **state) {
    (void)state;
    struct rundir *rundir = NULL;
    struct error err = {0};
    assert_int_equal(mkdir("full", 0755), 0);
    assert_int_equal(mkdir("full/x", 0755), 0);
    assert_int_equal(rundir_create("full", &rundir, &err), LATHE_ECREATE);
    assert_string_equal(err.what, "cannot make the run directory: it is not empty");
    assert_non_null(strstr(err.where, "/full"));
    assert_non_null(strstr(err.help, "--run-dir"));
    assert_int_equal(error_exit_code(LATHE_ECREATE), 73);
    assert_int_equal(entries("full"), 1);
}

static void refuses_what_is_no_directory(void **state) {
    (void)state;
    struct rundir *rundir = NULL;
    struct error err = {0};
    struct error sink;
    assert_int_equal(file_replace("file", "x", 1, &sink), LATHE_OK);
    assert_int_equal(rundir_create("file", &rundir, &err), LATHE_ECREATE);
    assert_int_equal(rundir_create("file/below", &rundir, &err), LATHE_ECREATE);
    assert_int_equal(rundir_create("/proc/nowhere", &rundir, &err), LATHE_ECREATE);
    expect_content("file", "x");
}

static void two_runs_never_share_one(void **state) {
    (void)state;
    struct rundir *first = create("shared"), *second = NULL;
    struct error err = {0};
    assert_int_equal(rundir_create("shared", &second, &err), LATHE_ECREATE);
    assert_string_equal(err.what,
                        "cannot make the run directory: another run is using it");
    assert_int_equal(entries("shared"), 1);
    rundir_discard(first);
    rundir_close(first);
    rundir_close(create("shared")); /* the lock goes with its holder */
}

static void default_paths_are_new_and_plain(void **state) {
    (void)state;
    char *path = rundir_default_path("fashion-mlp");
    char pattern[] = "runs/fashion-mlp-########T######Z-xxxx";
    assert_int_equal(strlen(path), strlen(pattern));
    for (size_t i = 0; pattern[i]; i++) {
        if (pattern[i] == '#')
            assert_true(path[i] >= '0' && path[i] <= '9');
        else if (pattern[i] == 'x')
            assert_non_null(strchr("0123456789abcdef", path[i]));
        else
            assert_int_equal(path[i], pattern[i]);
    }
    free(path);
    path = rundir_default_path("../a b/ü");
    assert_int_equal(strncmp(path, "runs/-.-a-b---", 14), 0);
    assert_null(strchr(path + 5, '/'));
    free(path);
    char name[1000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    path = rundir_default_path(name);
    assert_true(strlen(path_name(path)) < 200);
    free(path);
}

static void latest_is_switched_under_runs_only(void **state) {
    (void)state;
    char target[64];
    struct error err = {0};
    for (int i = 1; i <= 2; i++) {
        struct rundir *rundir = create(i == 1 ? "runs/one" : "runs/two");
        assert_int_equal(rundir_link_latest(rundir, &err), LATHE_OK);
        rundir_close(rundir);
        ssize_t length = readlink("runs/latest", target, sizeof target);
        assert_int_equal(length, 3);
        assert_memory_equal(target, i == 1 ? "one" : "two", 3);
        assert_int_equal(entries("runs"), i + 1);
    }
    struct rundir *rundir = create("elsewhere/one");
    assert_int_equal(rundir_link_latest(rundir, &err), LATHE_OK);
    rundir_close(rundir);
    assert_int_equal(entries("elsewhere"), 1);
}

static void lines_are_appended_whole(void **state) {
    (void)state;
    struct rundir *rundir = create("lines");
    struct error err = {0};
    assert_int_equal(rundir_append(rundir, "metrics.jsonl", "{\"a\":1}", &err),
                     LATHE_OK);
    assert_int_equal(rundir_append(rundir, "log.txt", "x", &err), LATHE_OK);
    assert_int_equal(rundir_append(rundir, "metrics.jsonl", "", &err), LATHE_OK);
    expect_content("lines/metrics.jsonl",
                   "{\"a\":1}\n\n"); /* without waiting for close */
    expect_content("lines/log.txt", "x\n");
    rundir_close(rundir);
}

static void *append_many(void *context) {
    struct error err = {0};
    for (int i = 0; i < 200; i++)
        if (rundir_append(context, "log.txt", "one line of the log", &err))
            return context;
    return NULL;
}

static void lines_of_several_threads_do_not_mix(void **state) {
    (void)state;
    struct rundir *rundir = create("threads");
    pthread_t threads[4];
    struct text expected = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, append_many, rundir), 0);
    for (int i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    for (int i = 0; i < 800; i++) text_add(&expected, "one line of the log\n");
    expect_content("threads/log.txt", expected.data);
    text_finish(&expected);
    rundir_close(rundir);
}

/* A file may grow to 10 bytes: as if the disk were full in the middle of a line. Why it
 * stopped there only the write after it tells. */
static void a_line_that_does_not_fit_is_taken_back(void **state) {
    (void)state;
    struct rundir *rundir = create("full-disk");
    struct rlimit before, limit;
    struct error err = {0};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 10;
    assert_int_equal(rundir_append(rundir, "metrics.jsonl", "12345", &err), LATHE_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    lathe_status status = rundir_append(rundir, "metrics.jsonl", "6789012", &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, LATHE_EIO);
    assert_string_equal(err.what, "metrics.jsonl: File too large");
    expect_content("full-disk/metrics.jsonl", "12345\n");
    rundir_close(rundir);
}

static void status_names_the_process(void **state) {
    (void)state;
    struct rundir *rundir = create("status");
    struct run_status running = {.state = "running", .epoch = 1, .step = 7};
    struct run_status ended = {.state = "ended",
                               .reason = "interrupted",
                               .exit_code = 130,
                               .epoch = 2,
                               .step = 9};
    struct json *json = NULL;
    struct error err = {0};
    assert_int_equal(rundir_write_status(rundir, &running, &err), LATHE_OK);
    assert_int_equal(json_read("status/status.json", &json, &err), LATHE_OK);
    assert_string_equal(json_text(json_get(json, "state")), "running");
    assert_int_equal(json_kind(json_get(json, "reason")), JSON_NULL_KIND);
    assert_int_equal(json_kind(json_get(json, "exit_code")), JSON_NULL_KIND);
    assert_int_equal(json_whole(json_get(json, "epoch")), 1);
    assert_int_equal(json_whole(json_get(json, "step")), 7);
    assert_int_equal(json_whole(json_get(json, "pid")), getpid());
    assert_int_equal(strlen(json_text(json_get(json, "boot_id"))), 36);
    assert_true(json_whole(json_get(json, "start_time")) > 0);
    json_close(json);

    assert_int_equal(rundir_write_status(rundir, &ended, &err), LATHE_OK);
    assert_int_equal(json_read("status/status.json", &json, &err), LATHE_OK);
    assert_string_equal(json_text(json_get(json, "reason")), "interrupted");
    assert_int_equal(json_whole(json_get(json, "exit_code")), 130);
    json_close(json);
    assert_int_equal(entries("status"), 1);
    rundir_close(rundir);
}

static void expect_state(const char *path, const char *state) {
    struct json *json = NULL;
    struct error err = {0};
    if (json_read(path, &json, &err)) fail_msg("%s", err.what);
    assert_string_equal(json_text(json_get(json, "state")), state);
    json_close(json);
}

static void a_directory_has_a_status_from_the_first(void **state) {
    (void)state;
    struct rundir *rundir = create("first");
    expect_state("first/status.json", "running");
    rundir_close(rundir);
}

/* What takes its place cannot be made: there is a directory of its name, as there is no
 * room on a full disk. */
static void a_status_is_written_where_nothing_can_be_made(void **state) {
    (void)state;
    struct rundir *rundir = create("full");
    struct error err = {0};
    struct stat before, after;
    char aside[64];
    snprintf(aside, sizeof aside, "full/.status.json.%ld.tmp", (long)gettid());
    assert_int_equal(stat("full/status.json", &before), 0);
    assert_int_equal(mkdir(aside, 0755), 0);
    assert_int_not_equal(rundir_write(rundir, "status.json", "x", 1, &err), LATHE_OK);
    const struct run_status ended = {.state = "ended",
                                     .reason = "interrupted",
                                     .exit_code = 130,
                                     .epoch = INT64_MAX,
                                     .step = INT64_MAX};
    assert_int_equal(rundir_write_status(rundir, &ended, &err), LATHE_OK);
    expect_state("full/status.json", "ended");
    assert_int_equal(stat("full/status.json", &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    assert_int_equal(after.st_size, before.st_size);
    rundir_close(rundir);
}

/* What a plugin prints when it has closed stdout must not end in a file. */
static void files_are_never_standard_descriptors(void **state) {
    (void)state;
    struct rundir *rundir = create("descriptors");
    struct error err = {0};
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), probe = open("/dev/null", O_WRONLY);
    close(STDOUT_FILENO);
    int clear = file_keep_clear(dup(probe));
    int untouched = file_keep_clear(probe);
    lathe_status status = rundir_append(rundir, "log.txt", "x", &err);
    lathe_status written = rundir_write(rundir, "y", "y", 1, &err);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    assert_int_equal(status, LATHE_OK);
    assert_int_equal(written, LATHE_OK);
    assert_true(clear > STDERR_FILENO);
    assert_true(fcntl(clear, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(untouched, probe);
    assert_int_equal(file_keep_clear(-1), -1);
    close(clear);
    close(probe);
    rundir_close(rundir);
}

static void a_failed_start_leaves_nothing(void **state) {
    (void)state;
    struct rundir *rundir = create("new/deep/run");
    struct error err = {0};
    assert_int_equal(rundir_write(rundir, "experiment.json", "{}", 2, &err), LATHE_OK);
    assert_int_equal(rundir_append(rundir, "log.txt", "x", &err), LATHE_OK);
    rundir_discard(rundir);
    rundir_close(rundir);
    assert_int_equal(access("new", F_OK), -1);
}

static void a_failed_start_leaves_what_others_made(void **state) {
    (void)state;
    struct rundir *rundir = create("new/run");
    struct error err = {0};
    assert_int_equal(rundir_write(rundir, "experiment.json", "{}", 2, &err), LATHE_OK);
    assert_int_equal(file_replace("new/run/foreign", "x", 1, &err), LATHE_OK);
    rundir_discard(rundir);
    rundir_close(rundir);
    assert_int_equal(entries("new/run"), 1);
    expect_content("new/run/foreign", "x");
}

static void without_a_directory_nothing_is_written(void **state) {
    (void)state;
    struct rundir *rundir = create(NULL);
    struct run_status running = {.state = "running"};
    struct error err = {0};
    assert_null(rundir_path(rundir));
    assert_int_equal(rundir_write(rundir, "x", "x", 1, &err), LATHE_OK);
    assert_int_equal(rundir_append(rundir, "x", "x", &err), LATHE_OK);
    assert_int_equal(rundir_write_status(rundir, &running, &err), LATHE_OK);
    assert_int_equal(rundir_link_latest(rundir, &err), LATHE_OK);
    rundir_discard(rundir);
    rundir_close(rundir);
    rundir_close(NULL);
    assert_int_equal(entries("."), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(makes_missing_directories),
        TEST(takes_an_empty_directory),
        TEST(refuses_what_is_not_empty),
        TEST(refuses_what_is_no_directory),
        TEST(two_runs_never_share_one),
        TEST(default_paths_are_new_and_plain),
        TEST(latest_is_switched_under_runs_only),
        TEST(lines_are_appended_whole),
        TEST(lines_of_several_threads_do_not_mix),
        TEST(a_line_that_does_not_fit_is_taken_back),
        TEST(status_names_the_process),
        TEST(a_directory_has_a_status_from_the_first),
        TEST(a_status_is_written_where_nothing_can_be_made),
        TEST(files_are_never_standard_descriptors),
        TEST(a_failed_start_leaves_nothing),
        TEST(a_failed_start_leaves_what_others_made),
        TEST(without_a_directory_nothing_is_written),
    };
    return cmocka_run_group_tests_name("rundir", tests, NULL, NULL);
}
