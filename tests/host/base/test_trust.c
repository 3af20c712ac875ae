/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "base/trust.h"
#include "support/test.h"

struct place {
    char *folder, *file;
};

static int make_place(void **state) {
    char pattern[] = "/tmp/lathe-trust-XXXXXX";
    struct place *place = malloc(sizeof *place);
    place->folder = text_copy(mkdtemp(pattern));
    place->file = path_join(place->folder, "x.so");
    close(open(place->file, O_CREAT | O_WRONLY, 0644));
    chmod(place->file, 0644);
    *state = place;
    return 0;
}

static int remove_place(void **state) {
    struct place *place = *state;
    char *command = text_make("rm -rf '%s'", place->folder);
    int result = system(command);
    free(command);
    free(place->folder);
    free(place->file);
    free(place);
    return result;
}

static lathe_status check(const char *path, struct error *err) {
    memset(err, 0, sizeof *err);
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    lathe_status status = trust_check(fd, path, err);
    close(fd);
    return status;
}

static void assert_help(const struct error *err, const char *command,
                        const char *path) {
    char *wanted = text_make("%s %s", command, path);
    assert_string_equal(err->help, wanted);
    free(wanted);
}

static void own_file_is_trusted(void **state) {
    struct place *place = *state;
    struct error err;
    assert_int_equal(check(place->file, &err), LATHE_OK);
    chmod(place->file, 0664); /* a group is somebody's choice */
    assert_int_equal(check(place->file, &err), LATHE_OK);
}

static void world_writable_file_is_refused(void **state) {
    struct place *place = *state;
    struct error err;
    chmod(place->file, 0646);
    assert_int_equal(check(place->file, &err), LATHE_EPERM);
    assert_string_equal(err.what, "the file can be written by anybody (mode 0646)");
    assert_help(&err, "run: chmod o-w", place->file);
}

static void world_writable_folder_is_refused(void **state) {
    struct place *place = *state;
    struct error err;
    chmod(place->folder, 0777);
    assert_int_equal(check(place->file, &err), LATHE_EPERM);
    assert_non_null(strstr(err.what, "the folder"));
    assert_help(&err, "run: chmod o-w", place->folder);
    chmod(place->folder, 01777); /* sticky: others may still add files here */
    assert_int_equal(check(place->file, &err), LATHE_EPERM);
}

static void folder_further_up_may_be_sticky(void **state) {
    struct place *place = *state;
    struct error err = {0};
    chmod(place->folder, 01777);
    assert_int_equal(trust_check_folder(place->folder, &err), LATHE_OK);
    chmod(place->folder, 0777);
    assert_int_equal(trust_check_folder(place->folder, &err), LATHE_EPERM);
}

static void odd_names_are_quoted_for_the_shell(void **state) {
    struct place *place = *state;
    struct error err;
    char *odd = path_join(place->folder, "it's; x.so");
    assert_int_equal(rename(place->file, odd), 0);
    chmod(odd, 0666);
    assert_int_equal(check(odd, &err), LATHE_EPERM);
    assert_non_null(strstr(err.help, "/it'\\''s; x.so'"));
    /* The help does what it says. */
    assert_int_equal(system(err.help + strlen("run: ")), 0);
    assert_int_equal(check(odd, &err), LATHE_OK);
    free(odd);
}

/* Who can change a link on the way decides what is opened. */
static void folder_of_every_link_counts(void **state) {
    struct place *place = *state;
    struct error err;
    char *open_folder = path_join(place->folder, "open"),
         *hop = path_join(open_folder, "hop.so"),
         *link = path_join(place->folder, "link.so");
    mkdir(open_folder, 0755);
    assert_int_equal(symlink("../x.so", hop), 0);
    assert_int_equal(symlink("open/hop.so", link), 0);
    assert_int_equal(check(link, &err), LATHE_OK);
    chmod(open_folder, 0777);
    assert_int_equal(check(link, &err), LATHE_EPERM);
    assert_help(&err, "run: chmod o-w", open_folder);
    free(open_folder);
    free(hop);
    free(link);
}

static void target_of_a_link_must_pass(void **state) {
    struct place *place = *state;
    struct error err;
    char *link = path_join(place->folder, "link.so");
    assert_int_equal(symlink("x.so", link), 0);
    chmod(place->file, 0666);
    assert_int_equal(check(link, &err), LATHE_EPERM);
    free(link);
}

static void links_are_shown_with_their_target(void **state) {
    struct place *place = *state;
    char *link = path_join(place->folder, "link.so");
    assert_int_equal(symlink("x.so", link), 0);
    char *wanted = text_make("%s -> %s", link, place->file), *shown = trust_show(link);
    assert_string_equal(shown, wanted);
    free(shown);
    shown = trust_show(place->file);
    assert_string_equal(shown, place->file);
    free(shown);
    free(wanted);
    free(link);
}

static void foreign_owner_is_refused(void **state) {
    struct place *place = *state;
    struct error err;
    if (geteuid() != 0) {
        print_message("skipped: only root can give files away\n");
        skip();
    }
    assert_int_equal(chown(place->file, 54321, 0), 0);
    assert_int_equal(check(place->file, &err), LATHE_EPERM);
    assert_non_null(strstr(err.what, "the file belongs to user 54321"));
    assert_int_equal(chown(place->file, 0, 0), 0);
    assert_int_equal(chown(place->folder, 54321, 0), 0);
    assert_int_equal(check(place->file, &err), LATHE_EPERM);
    assert_non_null(strstr(err.what, "the folder"));
    assert_non_null(strstr(err.what, "belongs to user 54321"));
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_PLACE(own_file_is_trusted),
        WITH_PLACE(world_writable_file_is_refused),
        WITH_PLACE(world_writable_folder_is_refused),
        WITH_PLACE(folder_further_up_may_be_sticky),
        WITH_PLACE(odd_names_are_quoted_for_the_shell),
        WITH_PLACE(folder_of_every_link_counts),
        WITH_PLACE(target_of_a_link_must_pass),
        WITH_PLACE(links_are_shown_with_their_target),
        WITH_PLACE(foreign_owner_is_refused),
    };
    return cmocka_run_group_tests_name("trust", tests, NULL, NULL);
}
