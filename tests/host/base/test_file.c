/* SPDX-License-Identifier: MIT */
#include "support/scratch.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

static int set_up(void **state) {
    static struct scratch scratch;
    scratch_init(&scratch);
    *state = &scratch;
    return 0;
}

static int tear_down(void **state) {
    scratch_finish(*state);
    return 0;
}

/* `pattern` holds one %s, the path. */
static void expect_refusal(const char *path, lathe_status status, const char *pattern,
                           const char *help) {
    int fd = -7;
    int64_t size = -7;
    struct error err = {0};
    assert_int_equal(file_open(path, &fd, &size, &err), status);
    assert_int_equal(fd, -7);
    assert_int_equal(size, -7);
    struct text what = {0};
    const char *place = strstr(pattern, "%s");
    text_add_bytes(&what, pattern, (size_t)(place - pattern));
    text_format(&what, "%s%s", path, place + 2);
    assert_string_equal(err.what, what.data);
    assert_string_equal(err.help, help);
    text_finish(&what);
}

static void a_file_is_opened_through_a_link(void **state) {
    struct scratch *scratch = *state;
    scratch_text(scratch, "plain", "12345");
    scratch_run(scratch, "ln -s plain link");
    int fd;
    int64_t size;
    assert_int_equal(file_open(scratch_path(scratch, "link"), &fd, &size, NULL),
                     LATHE_OK);
    assert_int_equal(size, 5);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
}

static void what_is_no_file_has_a_message_of_its_own(void **state) {
    struct scratch *scratch = *state;
    scratch_run(scratch,
                "mkdir folder && mkfifo fifo && ln -s loop loop && ln -s no gone "
                "&& ln -s /dev/zero zero");
    int sock = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = scratch_path(scratch, "socket");
    assert_true(strlen(path) < sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path));
    assert_int_equal(bind(sock, (struct sockaddr *)&address, sizeof address), 0);
    expect_refusal(scratch_path(scratch, "folder"), LATHE_EDATA,
                   "\"%s\" is a directory; a regular file was expected", "");
    expect_refusal(scratch_path(scratch, "fifo"), LATHE_EDATA,
                   "\"%s\" is a FIFO; a regular file was expected", "");
    expect_refusal(scratch_path(scratch, "socket"), LATHE_EDATA,
                   "\"%s\" is a socket; a regular file was expected", "");
    expect_refusal(scratch_path(scratch, "zero"), LATHE_EDATA,
                   "\"%s\" is a device; a regular file was expected", "");
    expect_refusal(scratch_path(scratch, "loop"), LATHE_ENOTFOUND,
                   "cannot open \"%s\": Too many levels of symbolic links", "");
    expect_refusal(scratch_path(scratch, "gone"), LATHE_ENOTFOUND,
                   "\"%s\" is a link to \"no\", which is not there", "");
    close(sock);
}

static void a_missing_file_names_the_nearest(void **state) {
    struct scratch *scratch = *state;
    scratch_text(scratch, "train-images.gz", "");
    scratch_text(scratch, "other", "");
    expect_refusal(scratch_path(scratch, "train-image.gz"), LATHE_ENOTFOUND,
                   "there is no file \"%s\"", "did you mean \"train-images.gz\"?");
    expect_refusal(scratch_path(scratch, "nothing-like-it"), LATHE_ENOTFOUND,
                   "there is no file \"%s\"", "");
    struct text help = {0};
    text_format(&help, "there is no directory \"%s/nowhere\" either",
                scratch->directory);
    expect_refusal(scratch_path(scratch, "nowhere/x"), LATHE_ENOTFOUND,
                   "there is no file \"%s\"", help.data);
    text_finish(&help);
    expect_refusal(scratch_path(scratch, "other/x"), LATHE_ENOTFOUND,
                   "cannot open \"%s\": Not a directory", "");
}

static void a_file_that_may_not_be_read_says_so(void **state) {
    struct scratch *scratch = *state;
    scratch_text(scratch, "secret", "x");
    scratch_run(scratch, "chmod 0 secret && chmod 755 .");
    uid_t user = geteuid();
    if (user == 0) assert_int_equal(seteuid(65534), 0); /* root may read everything */
    expect_refusal(scratch_path(scratch, "secret"), LATHE_EPERM,
                   "cannot open \"%s\": Permission denied", "");
    if (user == 0) assert_int_equal(seteuid(user), 0);
}

static void content_is_read_whole_with_a_nul_after_it(void **state) {
    struct scratch *scratch = *state;
    static char large[100000];
    memset(large, 'x', sizeof large);
    const size_t counts[] = {0, 1, 16383, 16384, 16385, sizeof large};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char *content = NULL;
        size_t length = 99;
        const char *path = scratch_write(scratch, "x", large, counts[i]);
        assert_int_equal(file_read(path, sizeof large, &content, &length, NULL),
                         LATHE_OK);
        assert_int_equal(length, counts[i]);
        assert_memory_equal(content, large, length);
        assert_int_equal(content[length], 0);
        free(content);
    }
    /* Says that it has 0 bytes, and has more. */
    char *content = NULL;
    assert_int_equal(file_read("/proc/self/status", 65536, &content, NULL, NULL),
                     LATHE_OK);
    assert_non_null(strstr(content, "Pid:"));
    free(content);
}

static void more_than_the_limit_is_refused(void **state) {
    struct scratch *scratch = *state;
    char *content = NULL;
    struct error err;
    const char *path = scratch_text(scratch, "x", "12345");
    assert_int_equal(file_read(path, 5, &content, NULL, NULL), LATHE_OK);
    free(content);
    content = NULL;
    assert_int_equal(file_read(path, 4, &content, NULL, &err), LATHE_EDATA);
    assert_null(content);
    assert_non_null(
        strstr(err.what, "/x\" is too large: at most 4 bytes are accepted"));
    assert_int_equal(file_read("/proc/self/status", 10, &content, NULL, &err),
                     LATHE_EDATA);
    assert_null(content);
}

static size_t count_names(struct scratch *scratch) {
    char *content = NULL;
    size_t count = 0;
    scratch_run(scratch, "ls -A | grep -v '^list$' > list || true");
    file_read(scratch_path(scratch, "list"), 65536, &content, NULL, NULL);
    for (const char *c = content; *c; c++) count += *c == '\n';
    free(content);
    return count;
}

static void replacing_leaves_one_file_with_the_new_content(void **state) {
    struct scratch *scratch = *state;
    const char *path = scratch_path(scratch, "x");
    mode_t mask = umask(022);
    assert_int_equal(file_replace(path, "old", 3, NULL), LATHE_OK);
    assert_int_equal(file_replace(path, "newer", 5, NULL), LATHE_OK);
    umask(mask);
    char *content = NULL;
    assert_int_equal(file_read(path, 100, &content, NULL, NULL), LATHE_OK);
    assert_string_equal(content, "newer");
    free(content);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0644);
    assert_int_equal(count_names(scratch), 1);
}

static void replacing_in_a_bare_directory_name_works(void **state) {
    struct scratch *scratch = *state;
    char *here = getcwd(NULL, 0);
    assert_int_equal(chdir(scratch->directory), 0);
    assert_int_equal(file_replace("bare", "x", 1, NULL), LATHE_OK);
    assert_int_equal(access("bare", F_OK), 0);
    assert_int_equal(chdir(here), 0);
    free(here);
}

static void a_failed_replacement_leaves_nothing_behind(void **state) {
    struct scratch *scratch = *state;
    struct error err;
    scratch_run(scratch, "mkdir folder");
    assert_int_equal(file_replace(scratch_path(scratch, "folder"), "x", 1, &err),
                     LATHE_ECREATE);
    assert_non_null(strstr(err.what, "cannot replace"));
    assert_int_equal(count_names(scratch), 1);
    assert_int_equal(file_replace(scratch_path(scratch, "no/x"), "x", 1, &err),
                     LATHE_ECREATE);
    assert_non_null(strstr(err.what, "/no/x\": No such file or directory"));
}

static void a_full_device_is_a_failed_write(void **state) {
    (void)state;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0) skip();
    struct error err;
    assert_int_equal(file_write(fd, "x", 1, "out.txt", &err), LATHE_EIO);
    assert_string_equal(err.what, "cannot write \"out.txt\": No space left on device");
    close(fd);
}

static void a_write_goes_on_until_all_is_written(void **state) {
    (void)state;
    static char much[1 << 20], got[1 << 20];
    memset(much, 'y', sizeof much);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork(); /* a pipe takes 64 KiB at a time */
    if (child == 0) _exit(file_write(ends[1], much, sizeof much, "pipe", NULL) ? 1 : 0);
    close(ends[1]);
    size_t count = 0;
    for (ssize_t n; (n = read(ends[0], got + count, sizeof got - count)) > 0;)
        count += (size_t)n;
    close(ends[0]);
    assert_int_equal(count, sizeof much);
    assert_memory_equal(got, much, sizeof much);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_opened_through_a_link),
        TEST(what_is_no_file_has_a_message_of_its_own),
        TEST(a_missing_file_names_the_nearest),
        TEST(a_file_that_may_not_be_read_says_so),
        TEST(content_is_read_whole_with_a_nul_after_it),
        TEST(more_than_the_limit_is_refused),
        TEST(replacing_leaves_one_file_with_the_new_content),
        TEST(replacing_in_a_bare_directory_name_works),
        TEST(a_failed_replacement_leaves_nothing_behind),
        cmocka_unit_test(a_full_device_is_a_failed_write),
        cmocka_unit_test(a_write_goes_on_until_all_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
