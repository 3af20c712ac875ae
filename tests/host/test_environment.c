/* SPDX-License-Identifier: MIT */
/* environment.json: what is in it, and what is not. */
#include "support/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "environment.h"
#include "environment_past.h"
#include "json.h"

struct place {
    char path[64];
    struct rundir *rundir;
    char data[96], library[96], json[128];
};

static void write_file(const char *path, const char *content) {
    struct error err = {0};
    if (file_replace(path, content, strlen(content), &err)) fail_msg("%s", err.what);
}

static int enter(void **state) {
    static struct place place;
    struct error err = {0};
    char run[96];
    strcpy(place.path, "/var/tmp/test-environment-XXXXXX");
    *state = &place;
    if (!mkdtemp(place.path)) return 1;
    snprintf(run, sizeof run, "%s/run", place.path);
    snprintf(place.json, sizeof place.json, "%s/environment.json", run);
    snprintf(place.data, sizeof place.data, "%s/data", place.path);
    snprintf(place.library, sizeof place.library, "%s/it.so", place.path);
    write_file(place.data, "samples");
    write_file(place.library, "code");
    setenv("HOME", place.path, 1);
    return rundir_create(run, &place.rundir, &err);
}

static int leave(void **state) {
    struct place *place = *state;
    char command[128];
    rundir_close(place->rundir);
    snprintf(command, sizeof command, "rm -rf '%s'", place->path);
    return system(command);
}

static struct environment *begin(struct place *place, const char *const *files,
                                 size_t count) {
    char digest[DIGEST_HEX];
    digest_bytes("code", 4, digest);
    const struct environment_plugin known[] = {
        {"model", "mlp", "1.0.0", place->library, digest},
        {"callback", "linked", "0.1", "", ""}};
    struct json *plugins =
        json_append(json_append(json_make_list(), environment_plugin(&known[0])),
                    environment_plugin(&known[1]));
    struct environment *environment = NULL;
    struct error err = {0};
    struct json *notes = NULL;
    const char text[] = "{\"model\": {\"products\": \"panels\"}}";
    assert_int_equal(json_parse(text, strlen(text), NULL, &notes, &err), LATHE_OK);
    const struct environment_start start = {.blas = "OpenBLAS Haswell",
                                            .threads = 2,
                                            .plugins = plugins,
                                            .notes = notes,
                                            .files = files,
                                            .file_count = count};
    if (environment_begin(place->rundir, &start, &environment, &err))
        fail_msg("%s", err.what);
    json_close(plugins);
    json_close(notes);
    return environment;
}

static struct json *read_json(const struct place *place) {
    struct json *json = NULL;
    struct error err = {0};
    if (json_read(place->json, &json, &err)) fail_msg("%s: %s", err.where, err.what);
    return json;
}

static void names_versions_and_processor(void **state) {
    struct place *place = *state;
    struct error err = {0};
    assert_int_equal(environment_end(begin(place, NULL, 0), &err), LATHE_OK);
    struct json *json = read_json(place);
    assert_string_equal(json_text(json_get(json, "lathe")), LATHE_VERSION);
    assert_string_equal(json_text(json_get(json, "blas")), "OpenBLAS Haswell");
    const struct json *notes = json_get(json_get(json, "notes"), "model");
    assert_string_equal(json_text(json_get(notes, "products")), "panels");
    assert_non_null(strstr(json_text(json_get(json, "libc")), "glibc 2."));
    assert_non_null(strstr(json_text(json_get(json, "kernel")), "Linux "));
    assert_true(strlen(json_text(json_get(json, "compiler"))) > 4);
    assert_true(json_whole(json_get(json_get(json, "cpu"), "cores")) >= 1);
    assert_int_equal(json_size(json_get(json, "data")), 0);
    json_close(json);
}

static void hashes_plugins_and_data(void **state) {
    struct place *place = *state;
    const char *files[] = {place->data, "/nowhere/at/all"};
    char expected[DIGEST_HEX];
    struct error err = {0};
    struct environment *environment = begin(place, files, 2);
    struct json *json = read_json(place); /* there from the beginning */
    assert_int_equal(json_size(json_get(json, "data")), 2);
    const struct json *plugin = json_at(json_get(json, "plugins"), 0);
    digest_bytes("code", 4, expected);
    assert_string_equal(json_text(json_get(plugin, "sha256")), expected);
    assert_string_equal(json_text(json_get(plugin, "library")), "it.so");
    plugin = json_at(json_get(json, "plugins"), 1);
    assert_int_equal(json_kind(json_get(plugin, "sha256")), JSON_NULL_KIND);
    json_close(json);

    assert_int_equal(environment_end(environment, &err), LATHE_OK);
    json = read_json(place);
    const struct json *file = json_at(json_get(json, "data"), 0);
    digest_bytes("samples", 7, expected);
    assert_string_equal(json_text(json_get(file, "sha256")), expected);
    assert_int_equal(json_whole(json_get(file, "size")), 7);
    assert_null(json_get(file, "error"));
    file = json_at(json_get(json, "data"), 1);
    assert_int_equal(json_kind(json_get(file, "sha256")), JSON_NULL_KIND);
    assert_true(strlen(json_text(json_get(file, "error"))) > 0);
    json_close(json);
}

static void lists_however_many_there_are(void **state) {
    struct place *place = *state;
    enum { MANY = 200 };
    struct json *plugins = json_make_list();
    const char *files[MANY];
    struct environment *environment = NULL;
    struct error err = {0};
    for (int i = 0; i < MANY; i++) {
        plugins = json_append(plugins, environment_plugin(&(struct environment_plugin){
                                           "model", "mlp", "1.0.0", "", ""}));
        files[i] = place->data;
    }
    const struct environment_start start = {
        .threads = 1, .plugins = plugins, .files = files, .file_count = MANY};
    assert_int_equal(environment_begin(place->rundir, &start, &environment, &err),
                     LATHE_OK);
    json_close(plugins);
    assert_int_equal(environment_end(environment, &err), LATHE_OK);
    struct json *json = read_json(place);
    assert_int_equal(json_size(json_get(json, "plugins")), MANY);
    assert_int_equal(json_size(json_get(json, "data")), MANY);
    json_close(json);
}

static void tells_nobodys_name(void **state) {
    struct place *place = *state;
    const char *files[] = {place->data};
    struct error err = {0};
    char host[256] = "", *content = NULL;
    assert_int_equal(environment_end(begin(place, files, 1), &err), LATHE_OK);
    assert_int_equal(file_read(place->json, 1 << 20, &content, NULL, &err), LATHE_OK);
    assert_null(strstr(content, place->path)); /* the home directory */
    assert_non_null(strstr(content, "\"~/data\""));
    gethostname(host, sizeof host - 1);
    if (strlen(host) > 3) assert_null(strstr(content, host));
    free(content);
}

/* A thread that may take signals would run handlers meant for the program's own. */
static volatile sig_atomic_t is_elsewhere;
static _Thread_local int is_here;
static void look(int number) {
    (void)number;
    if (!is_here) is_elsewhere = 1;
}

static void leaves_signals_to_others(void **state) {
    struct place *place = *state;
    const char *files[] = {"/dev/zero", place->data};
    struct error err = {0};
    sigset_t before, after;
    is_here = 1;
    signal(SIGUSR1, look);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    struct environment *environment = begin(place, files, 2);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&after, SIGUSR1), sigismember(&before, SIGUSR1));
    for (int i = 0; i < 100; i++) kill(getpid(), SIGUSR1);
    environment_cancel(environment);
    assert_int_equal(environment_end(environment, &err), LATHE_OK);
    assert_false(is_elsewhere);
}

/* A sparse file of 64 GiB takes a minute to hash. */
static void a_cancelled_one_does_not_wait(void **state) {
    struct place *place = *state;
    const char *files[] = {place->data};
    struct error err = {0};
    if (truncate(place->data, (off_t)64 << 30)) skip();
    struct environment *environment = begin(place, files, 1);
    environment_cancel(environment);
    assert_int_equal(environment_end(environment, &err), LATHE_OK);
    struct json *json = read_json(place);
    const struct json *file = json_at(json_get(json, "data"), 0);
    assert_string_equal(json_text(json_get(file, "error")),
                        "the run ended before it was read");
    json_close(json);
}

static void without_a_directory_nothing_is_done(void **state) {
    struct place *place = *state;
    struct rundir *none = NULL;
    struct environment *environment = NULL;
    struct error err = {0};
    const char *files[] = {place->data};
    assert_int_equal(rundir_create(NULL, &none, &err), LATHE_OK);
    const struct environment_start start = {.files = files, .file_count = 1};
    assert_int_equal(environment_begin(none, &start, &environment, &err), LATHE_OK);
    environment_cancel(environment);
    assert_int_equal(environment_end(environment, &err), LATHE_OK);
    rundir_close(none);
}

/* ---- what was at work earlier ---- */

static struct json *parsed(const char *text) {
    struct json *json = NULL;
    struct error err = {0};
    if (json_parse(text, strlen(text), NULL, &json, &err)) fail_msg("%s", err.what);
    return json;
}

/* What "earlier" becomes, where a run that had `before` goes on from `step`. */
static void assert_earlier(const char *before, int64_t step, const char *plugins,
                           const char *data, const char *expected) {
    struct json *environment = parsed(before), *wanted = parsed(expected);
    struct json *now = parsed(plugins), *files = parsed(data);
    struct past past;
    struct text text = {0};
    past_open(&past, environment, step);
    struct json *found = past_list(&past, now, files);
    json_write(found, &text, 0);
    if (!json_same(found, wanted)) fail_msg("%s, not %s", text.data, expected);
    text_finish(&text);
    past_close(&past);
    json_close(environment);
    json_close(wanted);
    json_close(now);
    json_close(files);
    json_close(found);
}

#define SGD(digest)                                                                    \
    "{\"kind\":\"optimizer\",\"name\":\"sgd\",\"version\":\"1\",\"sha256\":\"" digest  \
    "\"}"
#define FILE_OF(path, digest) "{\"path\":\"" path "\",\"sha256\":\"" digest "\"}"
#define RAN(plugins, data, earlier)                                                    \
    "{\"plugins\":[" plugins "],\"data\":[" data "],\"earlier\":[" earlier "]}"
#define PART(step, plugins, data)                                                      \
    "{\"step\":" step ",\"plugins\":[" plugins "],\"data\":[" data "]}"

static void keeps_what_was_at_work(void **state) {
    (void)state;
    assert_earlier("{}", 5, "[]", "[]", "[]");
    assert_earlier("[1, \"no run\"]", 5, "[]", "[]", "[]");
    assert_earlier(RAN(SGD("a"), FILE_OF("x", "1"), ""), 5, "[" SGD("a") "]",
                   "[" FILE_OF("x", "1") "]", "[]");
    assert_earlier(RAN(SGD("a"), FILE_OF("x", "1"), ""), 5, "[" SGD("b") "]",
                   "[" FILE_OF("x", "2") "]",
                   "[" PART("5", SGD("a"), FILE_OF("x", "1")) "]");
    /* Not hashed yet, or not in time: it may be another. */
    assert_earlier(RAN("", FILE_OF("x", "1"), ""), 5, "[]",
                   "[{\"path\":\"x\",\"sha256\":null}]",
                   "[" PART("5", "", FILE_OF("x", "1")) "]");
    /* Moved is not changed. */
    assert_earlier(RAN("", FILE_OF("x", "1"), ""), 5, "[]", "[" FILE_OF("y", "1") "]",
                   "[]");
    assert_earlier(RAN("", FILE_OF("x", "1"), ""), 5, "[]", "[" FILE_OF("y", "2") "]",
                   "[" PART("5", "", FILE_OF("x", "1")) "]");
}

/* It went on from 5 and from 9, each time with another file. */
static void forgets_a_past_that_was_given_up(void **state) {
    static const char ran[] =
        RAN(SGD("c"), "", PART("5", SGD("a"), "") "," PART("9", SGD("b"), ""));
    (void)state;
    assert_earlier(ran, 12, "[" SGD("c") "]", "[]",
                   "[" PART("5", SGD("a"), "") "," PART("9", SGD("b"), "") "]");
    assert_earlier(ran, 7, "[" SGD("c") "]", "[]",
                   "[" PART("5", SGD("a"), "") "," PART("7", SGD("b"), "") "]");
    assert_earlier(ran, 7, "[" SGD("b") "]", "[]", "[" PART("5", SGD("a"), "") "]");
    assert_earlier(ran, 5, "[" SGD("d") "]", "[]", "[" PART("5", SGD("a"), "") "]");
    assert_earlier(ran, 3, "[" SGD("a") "]", "[]", "[]");
}

/* A library that was built anew before a stage began. */
static void takes_other_plugins_on_the_way(void **state) {
    struct place *place = *state;
    const char *files[] = {place->data};
    struct error err = {0};
    struct environment *environment = begin(place, files, 1);
    struct json *plugins = parsed("[{\"kind\":\"model\",\"name\":\"mlp\","
                                  "\"version\":\"1.0.0\",\"sha256\":\"another\"}]");
    environment_renew(environment, plugins, 70);
    assert_int_equal(environment_end(environment, &err), LATHE_OK);
    struct json *json = read_json(place);
    const struct json *entry = json_at(json_get(json, "earlier"), 0);
    assert_true(json_same(json_get(json, "plugins"), plugins));
    assert_int_equal(json_whole(json_get(entry, "step")), 70);
    assert_int_equal(json_size(json_get(entry, "plugins")), 1);
    assert_int_equal(json_size(json_get(entry, "data")), 0);
    json_close(plugins);
    json_close(json);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(names_versions_and_processor),
        TEST(hashes_plugins_and_data),
        TEST(lists_however_many_there_are),
        TEST(tells_nobodys_name),
        TEST(leaves_signals_to_others),
        TEST(a_cancelled_one_does_not_wait),
        TEST(without_a_directory_nothing_is_done),
        TEST(keeps_what_was_at_work),
        TEST(forgets_a_past_that_was_given_up),
        TEST(takes_other_plugins_on_the_way),
    };
    return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
