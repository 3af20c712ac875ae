/* SPDX-License-Identifier: MIT */
#include "support/scratch.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"

/* Compares and frees. */
static void expect(char *path, const char *expected) {
    if (!path) fail_msg("NULL, not \"%s\"", expected);
    assert_string_equal(path, expected);
    free(path);
}

static void names_are_joined(void **state) {
    (void)state;
    expect(path_join("a", "b"), "a/b");
    expect(path_join("a/", "b"), "a/b");
    expect(path_join("/", "b"), "/b");
    expect(path_join("a", "/b"), "/b");
    expect(path_join("", "b"), "b");
    expect(path_join("a", "../b"), "a/../b");
}

static void absolute_paths_are_tidy(void **state) {
    (void)state;
    expect(path_absolute("/a//b/./c/"), "/a/b/c");
    expect(path_absolute("/"), "/");
    expect(path_absolute("//."), "/");
    expect(path_absolute("/a/../b"), "/a/../b");
    expect(path_absolute("/.a/b."), "/.a/b.");
    char *here = getcwd(NULL, 0);
    char *inside = path_join(here, "x");
    expect(path_absolute("./x"), inside);
    expect(path_absolute("."), here);
    free(inside);
    free(here);
}

static void paths_have_a_directory_and_a_name(void **state) {
    (void)state;
    expect(path_directory("a/b"), "a");
    expect(path_directory("a//b"), "a");
    expect(path_directory("b"), ".");
    expect(path_directory("/b"), "/");
    expect(path_directory("/a/b/"), "/a/b");
    assert_string_equal(path_name("a/b"), "b");
    assert_string_equal(path_name("b"), "b");
    assert_string_equal(path_name("a/"), "");
}

static void the_program_knows_where_it_is(void **state) {
    (void)state;
    char *folder = path_of_program();
    assert_non_null(folder);
    assert_int_equal(folder[0], '/');
    char *program = path_join(folder, program_invocation_short_name);
    assert_int_equal(access(program, X_OK), 0);
    free(program);
    free(folder);
}

static void xdg_directories_follow_the_environment(void **state) {
    (void)state;
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    setenv("HOME", "/h/x", 1);
    unsetenv("XDG_CONFIG_HOME");
    expect(path_xdg("config"), "/h/x/.config");
    setenv("XDG_CONFIG_HOME", "/c", 1);
    expect(path_xdg("config"), "/c");
    setenv("XDG_CONFIG_HOME", "", 1);
    expect(path_xdg("config"), "/h/x/.config");
    setenv("XDG_CONFIG_HOME", "relative", 1);
    expect(path_xdg("config"), "/h/x/.config");
    unsetenv("XDG_DATA_HOME");
    unsetenv("XDG_STATE_HOME");
    unsetenv("XDG_CACHE_HOME");
    expect(path_xdg("data"), "/h/x/.local/share");
    expect(path_xdg("state"), "/h/x/.local/state");
    expect(path_xdg("cache"), "/h/x/.cache");
    assert_null(path_xdg("nothing"));
    unsetenv("HOME");
    assert_null(path_xdg("data"));
    setenv("HOME", "relative", 1);
    assert_null(path_xdg("data"));
    if (home) setenv("HOME", home, 1);
    free(home);
}

static void plain_names_lead_nowhere(void **state) {
    (void)state;
    const char *const bad[] = {"", ".", "..", "a/b", "/a", "../a", "a/"};
    const char *const good[] = {"a", "a.so", "...", ".a", "a b", "a\\b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(path_is_plain_name(bad[i]));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(path_is_plain_name(good[i]));
}

static void directories_are_made_with_their_parents(void **state) {
    (void)state;
    struct scratch scratch;
    struct stat info;
    struct error err;
    scratch_init(&scratch);
    assert_int_equal(path_make_directories(scratch_path(&scratch, "a//b/c/"), &err), 0);
    assert_int_equal(stat(scratch_path(&scratch, "a/b/c"), &info), 0);
    assert_true(S_ISDIR(info.st_mode));
    assert_int_equal(path_make_directories(scratch_path(&scratch, "a/b/c"), &err), 0);
    scratch_text(&scratch, "file", "");
    assert_int_equal(path_make_directories(scratch_path(&scratch, "file"), &err),
                     LATHE_ECREATE);
    assert_non_null(strstr(err.what, "/file\": a file has that name"));
    assert_int_equal(path_make_directories(scratch_path(&scratch, "file/x"), &err),
                     LATHE_ECREATE);
    assert_int_equal(path_make_directories("/proc/lathe/x", &err), LATHE_ECREATE);
    scratch_finish(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_joined),
        cmocka_unit_test(absolute_paths_are_tidy),
        cmocka_unit_test(paths_have_a_directory_and_a_name),
        cmocka_unit_test(the_program_knows_where_it_is),
        cmocka_unit_test(xdg_directories_follow_the_environment),
        cmocka_unit_test(plain_names_lead_nowhere),
        cmocka_unit_test(directories_are_made_with_their_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
