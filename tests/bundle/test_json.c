/* SPDX-License-Identifier: MIT */
/* bundle.json: each thing that may be wrong in it is refused, and said. */
#include "bundle/tar.h"

#include "bundle/bundle.h"

#define LETTERS_32 "abcdefghijklmnopqrstuvwxyzabcdef"
#define LETTERS_128 LETTERS_32 LETTERS_32 LETTERS_32 LETTERS_32
#define LETTERS_256 LETTERS_128 LETTERS_128
#define DIGITS_64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* The right one with `old` replaced; the caller's. */
static char *replaced(const char *old, const char *new) {
    struct text json = {0};
    json_of(&json, NULL, NULL);
    const char *at = strstr(json.data, old);
    if (!at) fail_msg("there is no %s", old);
    char *text =
        text_make("%.*s%s%s", (int)(at - json.data), json.data, new, at + strlen(old));
    text_finish(&json);
    return text;
}

static void the_right_one_is_taken(void **state) {
    (void)state;
    struct text json = {0};
    struct bundle bundle;
    struct error err = {0};
    json_of(&json, NULL, NULL);
    if (bundle_parse(json.data, json.length, "x.lathe", &bundle, &err))
        fail_msg("%s: %s", err.where, err.what);
    assert_int_equal(bundle.file_count, LISTED);
    assert_int_equal(bundle.total, 16);
    assert_string_equal(bundle_find(&bundle, "experiment.json")->path,
                        "experiment.json");
    assert_null(bundle_find(&bundle, "experiment"));
    bundle_finish(&bundle);
    text_finish(&json);
}

static void assert_refused(const char *text, const char *name, const char *what) {
    struct bundle bundle;
    struct error err = {0};
    lathe_status status = bundle_parse(text, strlen(text), "x.lathe", &bundle, &err);
    if (status != LATHE_EDATA || !strstr(err.what, what))
        fail_msg("%s: %d \"%s\"", name, status, err.what);
    if (err.status != status || !strstr(err.where, "x.lathe"))
        fail_msg("%s: where is \"%s\"", name, err.where);
    bundle_finish(&bundle);
}

static void each_fault_is_told(void **state) {
    (void)state;
    static const struct {
        const char *old, *new, *what;
    } cases[] = {
        {"lathe.bundle/1", "lathe.bundle/2", "a bundle of format \"lathe.bundle/2\""},
        {"lathe.bundle/1", "tar", "it is no bundle"},
        {"\"format\"", "\"form\"", "it is no bundle"},
        {"\"name\"", "\"names\"", "names"},
        {"\"name\":\"n\"", "\"name\":\"n\",\"name\":\"m\"", "name"},
        {"\"name\":\"n\"", "\"name\":\"n\\nm\"", "one line"},
        {"\"name\":\"n\"", "\"name\":\"n" LETTERS_256 "\"", "has 257 bytes"},
        {"\"lathe\":\"1\"", "\"lathe\":\"1" LETTERS_256 "\"", "has 257 bytes"},
        {"x86_64", "x" LETTERS_256, "has 257 bytes"},
        {"\"2.2\"", "\"2" LETTERS_256 "\"", "has 257 bytes"},
        {"1.0\",\"built\"", "1" LETTERS_256 "\",\"built\"", "has 257 bytes"},
        {"\"libraries\":[", "\"libraries\":[\"1" LETTERS_256 "\"", "has 257 bytes"},
        {"\"kind\":\"model\"", "\"kind\":\"m" LETTERS_256 "\"", "has 257 bytes"},
        {"\"name\":\"m\"", "\"name\":\"m" LETTERS_256 "\"", "has 257 bytes"},
        {"\"version\":\"1\"", "\"version\":\"1" LETTERS_256 "\"", "has 257 bytes"},
        {"\"version\":\"1\"", "\"version\":\"1\",\"license\":\"1" LETTERS_256 "\"",
         "has 257 bytes"},
        {"\"size\":4", "\"used_by\":[\"a" LETTERS_256 "\"],\"size\":4",
         "has 257 bytes"},
        {"\"sha256\":\"", "\"sha256\":\"a" LETTERS_256, "bytes; at most 256"},
        {"data/points.csv", "data/" LETTERS_256, "more than 200 bytes"},
        {"\"library\":\"plugins", "\"library\":\"" LETTERS_256, "more than 200 bytes"},
        {"\"outside\":[]", "\"outside\":[],\"checkpoint\":\"" LETTERS_256 "\"",
         "more than 200 bytes"},
        {"\"experiment.json\",\"abi\"", "\"../x.json\",\"abi\"", "experiment.json"},
        {"1.0\",\"built\"", "one\",\"built\"", "no version"},
        {"1.0\",\"built\"", "2.0\",\"built\"", "another ABI"},
        {"\"files\":[", "\"files\":[1,", "object"},
        {"data/points.csv", "../points.csv", "no name for a file"},
        {"data/points.csv", "/data/points.csv", "absolute"},
        {"data/points.csv", "data/poi\\u0000nts.csv", "u0000"},
        {"data/points.csv", "zata/points.csv", "listed twice or out of order"},
        {"data/points.csv", "experiment.json", "listed twice or out of order"},
        {"data/points.csv", "data/points.csv/a/b/c/d/e/f/g/h", "too deep"},
        {"\"size\":4", "\"size\":-4", "minimum"},
        {"\"size\":4", "\"size\":4.5", "integer"},
        {"\"size\":4", "\"size\":1e15", "more than 64 GiB"},
        {"\"size\":4", "\"size\":1e300", ""},
        {"\"sha256\":\"", "\"sha256\":\"A", "no SHA-256"},
        {"\"library\":\"plugins", "\"library\":\"plugin", "not among its files"},
        {"\"experiment.json\",\"size\"", "\"experiment.jsom\",\"size\"",
         "not among its files"},
        {"\"outside\":[]", "\"outside\":[],\"checkpoint\":\"c\"",
         "not among its files"},
        {"\"outside\":[]", "\"outside\":[],\"later\":1", "later"},
        {"]}", "]", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = replaced(cases[i].old, cases[i].new);
        assert_refused(text, cases[i].new, cases[i].what);
        free(text);
    }
}

/* One item more than is taken; each alone is right. */
static void each_list_has_an_end(void **state) {
    (void)state;
    static const struct {
        const char *old, *begin, *item, *end, *what;
        int most;
    } lists[] = {
        {"\"libraries\":[]", "\"libraries\":[", "\"l\"", "]", "at most 256", 256},
        {"\"plugins\":[", "\"plugins\":[",
         "{\"kind\":\"k\",\"name\":\"n\",\"version\":\"1\",\"library\":\"a/b\"}", ",",
         "at most 1024", 1024},
        {"\"size\":4", "\"used_by\":[", "\"data.train.file\"", "],\"size\":4",
         "at most 1024", 1024},
        {"\"outside\":[]", "\"outside\":[",
         "{\"path\":\"a\",\"size\":1,\"sha256\":\"" DIGITS_64 "\",\"used_by\":[\"d\"]}",
         "]", "more than 4094 files", 4094 - LISTED},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct text list = {0};
        text_add(&list, lists[i].begin);
        for (int k = 0; k <= lists[i].most; k++)
            text_format(&list, "%s%s", k ? "," : "", lists[i].item);
        text_add(&list, lists[i].end);
        char *text = replaced(lists[i].old, list.data);
        assert_refused(text, lists[i].begin, lists[i].what);
        free(text);
        text_finish(&list);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_one_is_taken),
        cmocka_unit_test(each_fault_is_told),
        cmocka_unit_test(each_list_has_an_end),
    };
    return cmocka_run_group_tests_name("bundle.json", tests, NULL, NULL);
}
