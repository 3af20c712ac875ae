/* SPDX-License-Identifier: MIT */
/* Bundles from somebody who means no good, one for each way: refused for that reason,
 * nothing outside the store is touched, and nothing is left in it. */
#include "bundle/tar.h"

#include <dirent.h>
#include <sys/stat.h>

#include "bundle/shelf.h"
#include "support/scratch.h"

static struct scratch scratch;

static int make_place(void **state) {
    (void)state;
    scratch_init_fast(&scratch);
    scratch_run(&scratch, "umask 022; mkdir store; chmod 700 store");
    scratch_text(&scratch, "victim", "untouched");
    return 0;
}

static int remove_place(void **state) {
    (void)state;
    scratch_run(&scratch, "chmod -R u+w store");
    scratch_finish(&scratch);
    return 0;
}

/* ---- what is asked of each ---- */

static lathe_status unpack(const char *path, struct error *err) {
    char place[300], *folder = NULL;
    struct intake *intake = NULL;
    const struct bundle *bundle = NULL;
    snprintf(place, sizeof place, "%s/store", scratch.directory);
    *err = (struct error){0};
    lathe_status status = intake_open(path, &intake, err);
    if (!status) status = intake_begin(intake, &bundle, err);
    if (!status) status = shelf_put(place, intake, bundle, &folder, NULL, NULL, err);
    free(folder);
    intake_close(intake);
    return status;
}

static int count_store(void) {
    char place[300];
    int count = -2;
    snprintf(place, sizeof place, "%s/store", scratch.directory);
    DIR *listing = opendir(place);
    assert_non_null(listing);
    while (readdir(listing)) count++;
    closedir(listing);
    return count;
}

static void assert_file_refused(const char *path, const char *name, const char *text) {
    struct error err;
    struct stat info;
    char victim[300];
    lathe_status status = unpack(path, &err);
    if (status != LATHE_EDATA || !strstr(err.what, text))
        fail_msg("%s: status %d \"%s\", not: %s", name, status, err.what, text);
    if (!err.where[0] && !strstr(err.what, path))
        fail_msg("%s: it is not said where", name);
    if (count_store()) fail_msg("%s: something is left in the store", name);
    snprintf(victim, sizeof victim, "%s/victim", scratch.directory);
    assert_int_equal(stat(victim, &info), 0);
    assert_int_equal(info.st_size, 9);
    assert_int_equal(info.st_nlink, 1);
}

static void assert_refused(const struct text *tar, const char *name, const char *text) {
    char path[512];
    assert_false(tar->is_broken);
    snprintf(path, sizeof path, "%s",
             scratch_write(&scratch, "x.lathe", tar->data, tar->length));
    assert_file_refused(path, name, text);
}

/* ---- one entry too many, right after bundle.json ---- */

struct hostile {
    const char *name;
    struct tar_entry entry;
    const char *text; /* of the message */
};

static const char pax_path[] = "19 path=../victim\n";
static const char pax_nul[] = "29 path=plugin.json\0.txt\n";
static const char long_name[] =
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "aaaaaaaaaaaaaaaaaaaa";

static const struct hostile hostile[] = {
    {"parent", {.name = "../victim", .content = "x"}, "no name for a file"},
    {"parent within", {.name = "a/../../victim"}, "no name for a file"},
    {"pax parent", {.name = "p", .type = 'x', .content = pax_path}, "a pax header"},
    {"absolute", {.name = "/x"}, "it is absolute"},
    {"link out", {.name = "a", .type = '2', .link = "/"}, "a symbolic link"},
    {"link up",
     {.name = "link.so", .type = '2', .link = "../../etc/passwd"},
     "a symbolic link"},
    {"hard link out", {.name = "a", .type = '1', .link = "/victim"}, "a hard link"},
    {"hard link up", {.name = "a", .type = '1', .link = "../victim"}, "a hard link"},
    {"link as a file", {.name = "data/a", .link = "../victim"}, "is a link"},
    {"character device", {.name = "a", .type = '3'}, "a device"},
    {"block device", {.name = "a", .type = '4'}, "a device"},
    {"directory", {.name = "data/", .type = '5'}, "a directory"},
    {"fifo", {.name = "a", .type = '6'}, "a FIFO"},
    {"contiguous", {.name = "a", .type = '7'}, "only regular files"},
    {"unknown type", {.name = "a", .type = 'Z'}, "unknown type"},
    {"setuid", {.name = "data/a", .mode = 04755}, "mode 04755"},
    {"setgid", {.name = "data/a", .mode = 02755}, "mode 02755"},
    {"sticky", {.name = "data/a", .mode = 01644}, "mode 01644"},
    {"dot name", {.name = "./data/points.csv"}, "no name for a file"},
    {"hidden name", {.name = ".data"}, "no name for a file"},
    {"empty part", {.name = "data//a"}, "no name for a file"},
    {"trailing slash", {.name = "data/"}, "no name for a file"},
    {"newline", {.name = "da\nta"}, "letters other than"},
    {"escape", {.name = "da\033[2Jta"}, "letters other than"},
    {"not UTF-8", {.name = "da\xff\xfeta"}, "letters other than"},
    {"UTF-8", {.name = "d\xc3\xa4ta"}, "letters other than"},
    {"backslash", {.name = "data\\a"}, "letters other than"},
    {"blank", {.name = "data a"}, "letters other than"},
    {"drive", {.name = "c:a"}, "letters other than"},
    {"NUL in the name",
     {.name = "data/points.csv\0.txt", .name_bytes = 20},
     "goes on behind its end"},
    {"pax with a NUL", {.name = "p", .type = 'x', .content = pax_nul}, "a pax header"},
    {"pax link",
     {.name = "p", .type = 'x', .content = "24 linkpath=../victim\n"},
     "a pax header"},
    {"pax capability",
     {.name = "p", .type = 'x', .content = "30 SCHILY.xattr.user.a=aaaaaa\n"},
     "a pax header"},
    {"pax hole",
     {.name = "p", .type = 'x', .content = "33 GNU.sparse.realsize=109951162\n"},
     "a pax header"},
    {"pax for all", {.name = "p", .type = 'g', .content = pax_path}, "a pax header"},
    {"GNU long name",
     {.name = "././@LongLink", .type = 'L', .content = "data/points.csv"},
     "a GNU long name"},
    {"GNU long link", {.name = "a", .type = 'K', .content = "x"}, "a GNU long link"},
    {"GNU holes", {.name = "data/a", .type = 'S'}, "a file with holes"},
    {"long part", {.name = long_name, .prefix = "a"}, "does not list"},
    {"longer part", {.name = "a", .prefix = long_name}, "is too long"},
    {"deep", {.name = "a/b/c/d/e/f/g/h/i"}, "too deep"},
    {"empty name", {.name = ""}, "no name for a file"},
    {"empty name with a prefix", {.name = "", .prefix = "data"}, "no name for a file"},
    {"negative size", {.name = "data/a", .size = "-0000000001"}, "makes no sense"},
    {"binary size", {.name = "data/a", .size = "\x80\1\1\1\1"}, "makes no sense"},
    {"size of letters", {.name = "data/a", .size = "0000000zz"}, "makes no sense"},
    {"wrong sum", {.name = "data/a", .has_wrong_sum = 1}, "checksum"},
    {"old tar", {.name = "data/a", .magic = "\0\0\0\0\0\0\0\0"}, "no tar file"},
    {"not listed", {.name = "data/a", .content = "x"}, "does not list"},
    {"bundle.json again", {.name = "bundle.json", .content = "{}"}, "comes again"},
    {"too large",
     {.name = "data/points.csv", .content = "1,2\n3,4\n"},
     "has 8 bytes, and bundle.json says 4"},
    {"other bytes",
     {.name = "data/points.csv", .content = "1,3\n"},
     "is not what was packed"},
};

static void each_entry_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct text tar = {0};
        tar_begin(&tar, NULL, NULL);
        tar_put(&tar, &hostile[i].entry);
        tar_files(&tar, 1);
        tar_end(&tar);
        assert_refused(&tar, hostile[i].name, hostile[i].text);
        text_finish(&tar);
    }
}

/* ---- the right entries, put together wrongly ---- */

/* Entry `twice` comes twice, `absent` not at all; -1: none. */
static void assert_order_refused(int twice, int absent, const char *text) {
    struct text tar = {0};
    tar_begin(&tar, NULL, NULL);
    for (int i = 0; i < LISTED; i++) {
        if (i != absent) tar_file(&tar, listed[i].path, listed[i].content);
        if (i == twice) tar_file(&tar, listed[i].path, listed[i].content);
    }
    tar_end(&tar);
    assert_refused(&tar, text, text);
    text_finish(&tar);
}

static void each_file_is_there_once(void **state) {
    (void)state;
    for (int i = 0; i < LISTED; i++) {
        assert_order_refused(i, -1, "comes twice");
        assert_order_refused(-1, i, "is listed and not");
    }
}

static void bundle_json_is_first(void **state) {
    (void)state;
    struct text tar = {0};
    tar_files(&tar, 0);
    tar_begin(&tar, NULL, NULL);
    tar_end(&tar);
    assert_refused(&tar, "last", "not its first entry");
    text_clear(&tar);
    tar_files(&tar, 0);
    tar_end(&tar);
    assert_refused(&tar, "missing", "not its first entry");
    text_clear(&tar);
    tar_end(&tar);
    assert_refused(&tar, "no entry", "not its first entry");
    text_clear(&tar);
    tar_begin(&tar, NULL, NULL);
    tar_file(&tar, "bundle.json.minisig", "a");
    tar_file(&tar, "bundle.json.minisig", "b");
    tar_files(&tar, 0);
    tar_end(&tar);
    assert_refused(&tar, "signed twice", "comes again");
    text_finish(&tar);
}

/* On a file system without case the two would be one. */
static void names_that_collide(void **state) {
    (void)state;
    static const struct {
        struct listed first;
        const char *text;
    } cases[] = {{{"Data/other", "x"}, "differ in case alone"},
                 {{"DATA", "x"}, "cannot both be there"},
                 {{"Data/Points.csv", "x"}, "cannot both be there"},
                 {{"data", "x"}, "cannot both be there"},
                 {{"bundle.json", "x"}, "it lists \"bundle.json\" itself"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text tar = {0};
        tar_begin(&tar, &cases[i].first, NULL);
        tar_file(&tar, cases[i].first.path, cases[i].first.content);
        tar_files(&tar, 0);
        tar_end(&tar);
        assert_refused(&tar, cases[i].first.path, cases[i].text);
        text_finish(&tar);
    }
}

static void make_right(struct text *tar) {
    tar_begin(tar, NULL, NULL);
    tar_files(tar, 0);
    tar_end(tar);
}

static void cut_short_anywhere(void **state) {
    (void)state;
    struct text tar = {0};
    make_right(&tar);
    const size_t whole = tar.length;
    for (size_t length = whole - TAR_BLOCK; length > 0; length -= 64) {
        tar.length = length;
        assert_refused(&tar, "cut short", "");
    }
    tar.length = 0;
    assert_refused(&tar, "empty", "");
    text_finish(&tar);
}

static void something_behind_the_end(void **state) {
    (void)state;
    struct text tar = {0};
    make_right(&tar);
    text_add(&tar, "garbage");
    assert_refused(&tar, "garbage", "follows the end");
    text_clear(&tar);
    make_right(&tar);
    make_right(&tar);
    assert_refused(&tar, "two archives", "follows the end");
    text_clear(&tar);
    make_right(&tar);
    for (int i = 0; i < 64; i++) tar_end(&tar);
    assert_refused(&tar, "padding", "follows the end");
    text_finish(&tar);
}

/* ---- compressed ---- */

/* Writes x.lathe; 0: a program for that is not there. */
static int make_file(const char *command) {
    char line[512];
    snprintf(line, sizeof line, "cd '%s' && rm -f x.lathe && %s", scratch.directory,
             command);
    return system(line) == 0;
}

static void assert_made_refused(const char *command, const char *text) {
    char path[512];
    if (!make_file(command)) skip();
    snprintf(path, sizeof path, "%s", scratch_path(&scratch, "x.lathe"));
    assert_file_refused(path, command, text);
}

static void compressed_wrongly(void **state) {
    (void)state;
    struct text tar = {0};
    make_right(&tar);
    scratch_write(&scratch, "x.tar", tar.data, tar.length);
    text_finish(&tar);
    assert_made_refused("(gzip -c x.tar; echo garbage) >x.lathe", "follows the end");
    assert_made_refused("(gzip -c x.tar; gzip -c x.tar) >x.lathe", "follows the end");
    assert_made_refused("gzip -c x.tar | gzip -c >x.lathe", "more than once");
    assert_made_refused("gzip -c x.tar | head -c 300 >x.lathe", "cut short");
    assert_made_refused("(zstd -qc x.tar; echo garbage) >x.lathe", "damaged");
    assert_made_refused("(zstd -qc x.tar; zstd -qc x.tar) >x.lathe", "follows the end");
    assert_made_refused("zstd -qc x.tar | zstd -qc >x.lathe", "");
    assert_made_refused("zstd -qc x.tar | head -c 300 >x.lathe", "cut short");
}

/* Little that inflates to much, and what wants much memory to be inflated. */
static void bombs(void **state) {
    (void)state;
    struct text tar = {0}, frame = {0};
    tar_begin(&tar, NULL, NULL);
    tar_put(&tar,
            &(struct tar_entry){.name = "data/points.csv", .size = "07777777777"});
    scratch_write(&scratch, "x.tar", tar.data, tar.length);
    text_clear(&tar);
    assert_made_refused("cp x.tar x.lathe", "has 1073741823 bytes, and bundle.json");
    make_right(&tar);
    /* A frame of zstd with a window of 2 GiB, and the tar file in it as one raw block.
     * */
    const size_t block = tar.length << 3 | 1;
    const char head[] = {'\x28',
                         '\xb5',
                         '\x2f',
                         '\xfd',
                         0,
                         '\xa8',
                         (char)block,
                         (char)(block >> 8),
                         (char)(block >> 16)};
    text_add_bytes(&frame, head, sizeof head);
    text_add_bytes(&frame, tar.data, tar.length);
    assert_refused(&frame, "window", "zstd data is damaged");
    text_finish(&frame);
    text_finish(&tar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_entry_is_refused),
        cmocka_unit_test(each_file_is_there_once),
        cmocka_unit_test(bundle_json_is_first),
        cmocka_unit_test(names_that_collide),
        cmocka_unit_test(cut_short_anywhere),
        cmocka_unit_test(something_behind_the_end),
        cmocka_unit_test(compressed_wrongly),
        cmocka_unit_test(bombs),
    };
    return cmocka_run_group_tests_name("hostile bundles", tests, make_place,
                                       remove_place);
}
