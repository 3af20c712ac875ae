/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "support/scratch.h"

static struct scratch scratch;
static struct files *files;
static struct error err;

static int begin(void **state) {
    (void)state;
    scratch_init(&scratch);
    return files_create(&files, &err);
}

static int end(void **state) {
    (void)state;
    files_destroy(files);
    scratch_finish(&scratch);
    return 0;
}

static const char *map_file(const char *name, int64_t *count) {
    const void *bytes;
    if (files_map(files, scratch_path(&scratch, name), &bytes, count, &err))
        fail_msg("%s", err.what);
    return bytes;
}

static void maps_plain_and_compressed_files_alike(void **state) {
    (void)state;
    int64_t count;
    scratch_text(&scratch, "a", "turning\n");
    scratch_run(&scratch, "gzip -c a > b");
    assert_memory_equal(map_file("a", &count), "turning\n", 8);
    assert_int_equal(count, 8);
    assert_memory_equal(map_file("b", &count), "turning\n", 8);
    assert_int_equal(count, 8);
}

static void one_file_is_mapped_once_whatever_its_name(void **state) {
    (void)state;
    int64_t count;
    scratch_text(&scratch, "a", "turning\n");
    scratch_run(&scratch, "gzip -k a && ln -s a.gz link && ln a.gz hard && mkdir d");
    const char *bytes = map_file("a.gz", &count);
    assert_ptr_equal(map_file("a.gz", &count), bytes);
    assert_ptr_equal(map_file("link", &count), bytes);
    assert_ptr_equal(map_file("hard", &count), bytes);
    assert_ptr_equal(map_file("d/../a.gz", &count), bytes);
    assert_int_equal(count, 8);
    assert_string_equal(strrchr(files_path(files, 0), '/'), "/a.gz");
    assert_null(files_path(files, 1));
}

static void content_is_aligned_and_stays_as_more_files_come(void **state) {
    (void)state;
    int64_t count;
    scratch_text(&scratch, "first", "first");
    const char *first = map_file("first", &count);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        scratch_text(&scratch, name, name);
        const char *bytes = map_file(name, &count);
        assert_memory_equal(bytes, name, strlen(name));
        assert_int_equal((uintptr_t)bytes % 64, 0);
    }
    assert_memory_equal(first, "first", 5);
    assert_string_equal(strrchr(files_path(files, 40), '/'), "/f39");
}

static void an_empty_file_is_no_bytes_at_an_address(void **state) {
    (void)state;
    int64_t count = 7;
    scratch_text(&scratch, "empty", "");
    assert_non_null(map_file("empty", &count));
    assert_int_equal(count, 0);
}

static void a_noted_file_is_listed_and_can_be_mapped_later(void **state) {
    (void)state;
    int64_t count;
    scratch_text(&scratch, "a", "abc");
    assert_int_equal(files_note(files, scratch_path(&scratch, "a"), &err), LATHE_OK);
    assert_int_equal(files_note(files, scratch_path(&scratch, "a"), &err), LATHE_OK);
    assert_non_null(files_path(files, 0));
    assert_null(files_path(files, 1));
    assert_memory_equal(map_file("a", &count), "abc", 3);
    assert_null(files_path(files, 1));
}

static void expect_failure(const char *name, lathe_status status, const char *text) {
    const void *bytes = NULL;
    int64_t count = -1;
    const char *path = scratch_path(&scratch, name);
    assert_int_equal(files_map(files, path, &bytes, &count, &err), status);
    assert_null(bytes);
    assert_int_equal(count, -1);
    assert_non_null(strstr(err.what, path));
    if (!strstr(err.what, text)) fail_msg("%s", err.what);
}

static void what_cannot_be_mapped_says_why(void **state) {
    (void)state;
    scratch_run(&scratch,
                "mkfifo fifo && mkdir d && printf '\\037\\213\\010' > bad.gz");
    expect_failure("none", LATHE_ENOTFOUND, "there is no file");
    expect_failure("fifo", LATHE_EDATA, "regular file");
    expect_failure("d", LATHE_EDATA, "regular file");
    expect_failure("bad.gz", LATHE_EDATA, "gzip header is damaged or cut short");
}

static void warm_reads_fault_no_page(void **state) {
    (void)state;
    if (IS_SANITIZED) skip(); /* its shadow memory faults too */
    enum { COUNT = 8 << 20 };
    int64_t count;
    struct rusage before, after;
    scratch_run(&scratch, "head -c 8388608 /dev/zero > zeros && gzip -k zeros");
    const char *const names[] = {"zeros", "zeros.gz"};
    for (int i = 0; i < 2; i++) {
        const char *bytes = map_file(names[i], &count);
        assert_int_equal(count, COUNT);
        unsigned sum = 0;
        getrusage(RUSAGE_SELF, &before);
        for (int64_t at = 0; at < count; at += 4096) sum += (unsigned char)bytes[at];
        getrusage(RUSAGE_SELF, &after);
        assert_int_equal(sum, 0);
        /* A few are anybody's; one per page would be 2048. */
        assert_true(after.ru_minflt - before.ru_minflt < 32);
    }
}

static void a_file_that_shrinks_is_told(void **state) {
    int64_t count;
    (void)state;
    scratch_run(&scratch,
                "head -c 10000 /dev/zero >a && gzip -k a && head -c 5000 a >b");
    map_file("a", &count);
    map_file("a.gz", &count);
    map_file("b", &count);
    scratch_run(&scratch, "echo more >>a; : >a.gz"); /* that one was inflated */
    assert_int_equal(files_check(files, &err), LATHE_OK);
    scratch_run(&scratch, "truncate -s 4999 b");
    assert_int_equal(files_check(files, &err), LATHE_EDATA);
    assert_non_null(strstr(err.what, "/b has become shorter than the 5000 bytes that"));
}

static void mend(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)context;
    if (!files_mend(files, info->si_addr)) _exit(1);
}

/* A page that is gone reads as zeros, and what was read is not to be used. */
static void what_shrinks_while_it_is_read_is_mended(void **state) {
    const struct sigaction action = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    int64_t count;
    (void)state;
    scratch_run(&scratch, "yes | head -c 20000 >a && yes | head -c 9000 >b");
    map_file("b", &count);
    const volatile char *bytes = map_file("a", &count);
    sigaction(SIGBUS, &action, &before);
    scratch_run(&scratch, "truncate -s 5000 a");
    assert_int_equal(bytes[0], 'y');
    assert_int_equal(bytes[count - 1], 0);
    assert_int_equal(bytes[8192], 0);
    scratch_run(&scratch, "yes | head -c 20000 >a"); /* too late */
    sigaction(SIGBUS, &before, NULL);
    assert_int_equal(files_check(files, &err), LATHE_EDATA);
    assert_non_null(
        strstr(err.what, "/a has become shorter than the 20000 bytes that"));
    assert_false(files_mend(files, &count));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(maps_plain_and_compressed_files_alike, begin,
                                        end),
        cmocka_unit_test_setup_teardown(one_file_is_mapped_once_whatever_its_name,
                                        begin, end),
        cmocka_unit_test_setup_teardown(content_is_aligned_and_stays_as_more_files_come,
                                        begin, end),
        cmocka_unit_test_setup_teardown(an_empty_file_is_no_bytes_at_an_address, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_noted_file_is_listed_and_can_be_mapped_later,
                                        begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_mapped_says_why, begin, end),
        cmocka_unit_test_setup_teardown(warm_reads_fault_no_page, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_shrinks_is_told, begin, end),
        cmocka_unit_test_setup_teardown(what_shrinks_while_it_is_read_is_mended, begin,
                                        end),
    };
    return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
