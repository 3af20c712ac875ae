/* SPDX-License-Identifier: MIT */
/* A right bundle, into the store and out of it again. */
#include "bundle/tar.h"

#include <sys/stat.h>

#include "bundle/shelf.h"
#include "support/scratch.h"

static struct scratch scratch;
static char place[300], id[DIGEST_HEX];

static int make_bundle(void **state) {
    (void)state;
    struct text tar = {0};
    scratch_init_fast(&scratch);
    snprintf(place, sizeof place, "%s/data/store", scratch.directory);
    tar_begin(&tar, NULL, NULL);
    tar_file(&tar, "bundle.json.minisig", "signature");
    tar_put(&tar, &(struct tar_entry){.name = listed[0].path,
                                      .content = listed[0].content,
                                      .mode = 0666});
    tar_files(&tar, 1);
    tar_end(&tar);
    scratch_write(&scratch, "x.lathe", tar.data, tar.length);
    text_finish(&tar);
    return 0;
}

static int remove_bundle(void **state) {
    (void)state;
    scratch_run(&scratch, "chmod -R u+w .");
    scratch_finish(&scratch);
    return 0;
}

static void put(bool *is_mended) {
    struct intake *intake = NULL;
    const struct bundle *bundle = NULL;
    struct error err = {0};
    char *folder = NULL, path[512];
    snprintf(path, sizeof path, "%s", scratch_path(&scratch, "x.lathe"));
    if (intake_open(path, &intake, &err) || intake_begin(intake, &bundle, &err) ||
        shelf_put(place, intake, bundle, &folder, NULL, is_mended, &err))
        fail_msg("%s", err.what);
    memcpy(id, bundle->id, sizeof id);
    assert_non_null(strstr(folder, id));
    free(folder);
    intake_close(intake);
}

static char *path_of(const char *name) {
    static char path[700];
    snprintf(path, sizeof path, "%s/sha256-%s/%s", place, id, name);
    return path;
}

static void assert_mode(const char *name, mode_t mode) {
    struct stat info;
    if (stat(path_of(name), &info)) fail_msg("%s is not there", name);
    assert_int_equal(info.st_mode & 07777, mode);
}

static void all_of_it_is_read_only(void **state) {
    (void)state;
    bool is_mended = true;
    put(&is_mended);
    assert_false(is_mended);
    for (int i = 0; i < LISTED; i++) assert_mode(listed[i].path, 0444);
    assert_mode("bundle.json", 0444);
    assert_mode("bundle.json.minisig", 0444);
    assert_mode("", 0555);
    assert_mode("plugins/model", 0555);
}

static void bytes_are_had_before_they_are_parsed(void **state) {
    (void)state;
    struct intake *intake = NULL;
    struct error err = {0};
    size_t count = 0;
    char hex[DIGEST_HEX];
    assert_int_equal(intake_open(scratch_path(&scratch, "x.lathe"), &intake, &err), 0);
    assert_memory_equal(intake_signature(intake, &count), "signature", 9);
    assert_int_equal(count, 9);
    const char *text = intake_text(intake, &count);
    digest_bytes(text, count, hex);
    assert_string_equal(hex, id);
    intake_close(intake);
}

static void what_is_there_is_used_again(void **state) {
    (void)state;
    struct stat before, after;
    bool is_mended = true;
    assert_int_equal(stat(path_of("experiment.json"), &before), 0);
    put(&is_mended);
    assert_false(is_mended);
    assert_int_equal(stat(path_of("experiment.json"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
}

/* Each way in which somebody may have changed it. */
static void what_was_changed_is_unpacked_anew(void **state) {
    (void)state;
    static const char *const changes[] = {
        "chmod u+w plugins/model/m/m.so && printf Library >plugins/model/m/m.so",
        "chmod u+w data && rm data/points.csv",
        "chmod u+w data && rm data/points.csv && ln -s /dev/null data/points.csv",
        "chmod u+w plugins && mkdir plugins/more && touch plugins/more/plugin.json",
        "chmod u+w . && touch more",
        "chmod u+w . && rm bundle.json",
        "chmod u+w bundle.json && printf ' ' >>bundle.json",
        "chmod g+w experiment.json"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char line[1000];
        struct error err = {0};
        bool is_mended = false;
        snprintf(line, sizeof line, "cd %s && %s", path_of(""), changes[i]);
        if (system(line)) fail_msg("%s", line);
        snprintf(line, sizeof line, "%s/sha256-%s", place, id);
        assert_int_equal(shelf_check(line, NULL, &err), LATHE_EDATA);
        put(&is_mended);
        if (!is_mended) fail_msg("not mended: %s", changes[i]);
        if (shelf_check(line, NULL, &err)) fail_msg("%s: %s", changes[i], err.what);
    }
}

static void listed_and_removed(void **state) {
    (void)state;
    struct shelf_list list;
    struct error err = {0};
    assert_int_equal(shelf_read(place, &list, &err), 0);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].id, id);
    assert_string_equal(list.items[0].name, "n");
    assert_int_equal(list.items[0].size, 4 + 3 + 7 + 2);
    shelf_finish(&list);
    assert_int_equal(shelf_remove(place, id, NULL, &err), 0);
    assert_int_equal(shelf_read(place, &list, &err), 0);
    assert_int_equal(list.count, 0);
    shelf_finish(&list);
    assert_int_equal(shelf_remove(place, id, NULL, &err), LATHE_ENOTFOUND);
    assert_int_equal(shelf_sweep(place), 0);
}

static void a_place_that_others_write_to_is_refused(void **state) {
    (void)state;
    struct intake *intake = NULL;
    const struct bundle *bundle = NULL;
    struct error err = {0};
    char *folder = NULL, path[512];
    scratch_run(&scratch, "mkdir open && chmod 777 open");
    snprintf(path, sizeof path, "%s", scratch_path(&scratch, "open"));
    assert_int_equal(intake_open(scratch_path(&scratch, "x.lathe"), &intake, &err), 0);
    assert_int_equal(intake_begin(intake, &bundle, &err), 0);
    assert_int_equal(shelf_put(path, intake, bundle, &folder, NULL, NULL, &err),
                     LATHE_EPERM);
    assert_null(folder);
    intake_close(intake);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_is_read_only),
        cmocka_unit_test(bytes_are_had_before_they_are_parsed),
        cmocka_unit_test(what_is_there_is_used_again),
        cmocka_unit_test(what_was_changed_is_unpacked_anew),
        cmocka_unit_test(listed_and_removed),
        cmocka_unit_test(a_place_that_others_write_to_is_refused),
    };
    return cmocka_run_group_tests_name("the store of bundles", tests, make_bundle,
                                       remove_bundle);
}
