/* SPDX-License-Identifier: MIT */
/* Folders full of plugins, good and bad. The libraries are copies of one that is
 * compiled here, with $CC; names begin with "t-", so that the build's own plugins stay
 * apart. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "registry.h"
#include "support/test.h"

struct fixture {
    char *folder, *library; /* the library is in a folder of its own */
};

__attribute__((format(printf, 1, 2))) static void shell(const char *format, ...) {
    char command[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    assert_int_equal(system(command), 0);
}

static int make_fixture(void **state) {
    char pattern[] = "/tmp/lathe-registry-XXXXXX";
    const char *compiler = getenv("CC");
    struct fixture *fixture = malloc(sizeof *fixture);
    fixture->folder = text_copy(mkdtemp(pattern));
    fixture->library = path_join(fixture->folder, ".keep/x.so");
    shell("umask 022; mkdir '%s/.keep'; echo 'int x;' >'%s.c'; '%s' -shared -fPIC -o "
          "'%s' "
          "'%s.c'",
          fixture->folder, fixture->library, compiler ? compiler : "cc",
          fixture->library, fixture->library);
    setenv("HOME", fixture->folder, 1);
    unsetenv("LATHE_PLUGIN_PATH");
    *state = fixture;
    return 0;
}

static int remove_fixture(void **state) {
    struct fixture *fixture = *state;
    shell("chmod -R u+rwx '%s'; rm -rf '%s'", fixture->folder, fixture->folder);
    free(fixture->folder);
    free(fixture->library);
    free(fixture);
    return 0;
}

/* A sound callback or optimizer in <folder>/<place>. */
static void add_plugin(const struct fixture *fixture, const char *place,
                       const char *kind, const char *name) {
    char *folder = path_join(fixture->folder, place);
    shell("umask 022; mkdir -p '%s'; cp '%s' '%s/x.so'", folder, fixture->library,
          folder);
    char *path = path_join(folder, "plugin.json");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(
        file,
        "{ \"lathe\": 1, \"kind\": \"%s\", \"name\": \"%s\", \"version\": \"1\","
        " \"library\": \"x.so\", \"options\": { \"lr\": { \"type\": \"number\" } } }",
        kind, name);
    fclose(file);
    chmod(path, 0644);
    free(path);
    free(folder);
}

static struct registry *scan(const struct fixture *fixture, const char *first,
                             const char *second) {
    char *given[2] = {path_join(fixture->folder, first),
                      second ? path_join(fixture->folder, second) : NULL};
    const char *const paths[] = {given[0], given[1], NULL};
    struct registry *registry = NULL;
    struct error err = {0};
    if (registry_open(paths, NULL, &registry, &err) != LATHE_OK)
        fail_msg("%s", err.what);
    free(given[0]);
    free(given[1]);
    return registry;
}

/* "ok t-a, shadowed t-a, refused ?": what lies under the fixture's folder, in order. */
static void assert_found(const struct fixture *fixture, const struct registry *registry,
                         const char *wanted) {
    static const char *const words[] = {"ok", "refused", "shadowed"};
    struct text found = {0};
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct registry_entry *entry = registry_at(registry, i);
        if (strncmp(entry->path, fixture->folder, strlen(fixture->folder)) != 0)
            continue;
        const char *name = entry->manifest ? entry->manifest->name : "";
        text_format(&found, "%s%s %s", found.length > 0 ? ", " : "",
                    words[entry->status], name[0] ? name : "?");
        assert_true((entry->status == REGISTRY_OK) == (entry->reason.what[0] == '\0'));
    }
    assert_string_equal(found.data ? found.data : "", wanted);
    text_finish(&found);
}

static void order_is_that_of_places_and_bytes(void **state) {
    const struct fixture *fixture = *state;
    add_plugin(fixture, "a/z", "callback", "t-z");
    add_plugin(fixture, "a/b/c", "callback", "t-c");
    add_plugin(fixture, "a/b/B", "callback", "t-upper");
    add_plugin(fixture, "a", "callback", "t-root");
    add_plugin(fixture, "a/b/c/deep", "callback", "t-deep");
    add_plugin(fixture, "a/.hidden", "callback", "t-hidden");
    add_plugin(fixture, "b", "callback", "t-last");
    struct registry *registry = scan(fixture, "a", "b");
    assert_found(fixture, registry, "ok t-root, ok t-upper, ok t-c, ok t-z, ok t-last");
    registry_close(registry);
    registry = scan(fixture, "b", "a");
    assert_found(fixture, registry, "ok t-last, ok t-root, ok t-upper, ok t-c, ok t-z");
    registry_close(registry);
}

static void first_of_a_kind_and_name_wins(void **state) {
    const struct fixture *fixture = *state;
    add_plugin(fixture, "a/x", "callback", "t-x");
    add_plugin(fixture, "b/x", "callback", "t-x");
    add_plugin(fixture, "b/y", "optimizer", "t-x"); /* another kind, so no rival */
    struct registry *registry = scan(fixture, "a", "b");
    assert_found(fixture, registry, "ok t-x, shadowed t-x, ok t-x");
    const struct manifest *manifest = NULL;
    assert_int_equal(
        registry_find(registry, LATHE_KIND_CALLBACK, "t-x", &manifest, NULL), LATHE_OK);
    assert_non_null(strstr(manifest->path, "/a/x/plugin.json"));
    registry_close(registry);
}

/* What is refused does not stand in the way of a sound one further on. */
static void refused_one_shadows_nothing(void **state) {
    const struct fixture *fixture = *state;
    add_plugin(fixture, "a/x", "callback", "t-x");
    add_plugin(fixture, "b/x", "callback", "t-x");
    shell("chmod 646 '%s/a/x/x.so'", fixture->folder);
    struct registry *registry = scan(fixture, "a", "b");
    assert_found(fixture, registry, "refused t-x, ok t-x");
    registry_close(registry);
}

static void bad_ones_skip_only_themselves(void **state) {
    const struct fixture *fixture = *state;
    const char *folder = fixture->folder;
    add_plugin(fixture, "a/good", "callback", "t-good");
    add_plugin(fixture, "a/unwritten", "callback", "t-lost");
    shell("cd '%s/a'; umask 022; mkdir b1-json b2-fifo b3-directory b4-dangling "
          "b5-socket;"
          "echo '{' >b1-json/plugin.json; mkfifo b2-fifo/plugin.json;"
          "mkdir b3-directory/plugin.json; ln -s nowhere b4-dangling/plugin.json;"
          "ln -s /dev/zero b5-socket/plugin.json; ln -s gone c1-gone; ln -s c2-loop "
          "c2-loop;"
          "mkfifo c3-fifo; touch c4-file; rm unwritten/x.so; : >good/data; ln -s gone "
          "good/g",
          folder);
    struct registry *registry = scan(fixture, "a", NULL);
    assert_found(fixture, registry,
                 "refused ?, refused ?, refused ?, refused ?, refused ?, refused ?, "
                 "refused ?, ok t-good, refused t-lost");
    registry_close(registry);
}

static void links_are_followed(void **state) {
    const struct fixture *fixture = *state;
    add_plugin(fixture, "away/x", "callback", "t-x");
    shell("mkdir '%s/a'; ln -s ../away/x '%s/a/x'", fixture->folder, fixture->folder);
    struct registry *registry = scan(fixture, "a", NULL);
    assert_found(fixture, registry, "ok t-x");
    registry_close(registry);
    shell("chmod 777 '%s/away/x'", fixture->folder);
    registry = scan(fixture, "a", NULL);
    assert_found(fixture, registry, "refused t-x");
    registry_close(registry);
}

static void whoever_owns_the_folder_above_owns_the_plugin(void **state) {
    const struct fixture *fixture = *state;
    add_plugin(fixture, "a/x", "callback", "t-x");
    add_plugin(fixture, "a/kind/y", "callback", "t-y");
    shell("chmod 777 '%s/a/kind'", fixture->folder);
    struct registry *registry = scan(fixture, "a", NULL);
    assert_found(fixture, registry, "refused t-y, ok t-x");
    const struct manifest *manifest = NULL;
    struct error err = {0};
    registry_find(registry, LATHE_KIND_CALLBACK, "t-y", &manifest, &err);
    assert_non_null(strstr(err.what, "callback \"t-y\" was refused: the folder "));
    assert_non_null(strstr(err.help, "chmod o-w "));
    registry_close(registry);
    shell("chmod 1777 '%s/a/kind'", fixture->folder); /* as /tmp is */
    registry = scan(fixture, "a", NULL);
    assert_found(fixture, registry, "ok t-y, ok t-x");
    registry_close(registry);
}

static void long_names_are_only_refused(void **state) {
    const struct fixture *fixture = *state;
    char name[256], path[8192];
    memset(name, 'n', 255);
    name[255] = '\0';
    add_plugin(fixture, "a/x", "callback", "t-x");
    /* Deeper than PATH_MAX, by one relative step at a time. */
    shell("cd '%s/a' && mkdir '%s'", fixture->folder, name);
    snprintf(path, sizeof path, "%s/a/%s", fixture->folder, name);
    add_plugin(fixture, path, "callback", "t-long");
    struct registry *registry = scan(fixture, "a", NULL);
    assert_found(fixture, registry, "ok t-long, ok t-x");
    registry_close(registry);
}

static void given_place_must_be_there(void **state) {
    const struct fixture *fixture = *state;
    char *gone = path_join(fixture->folder, "gone"), *file = fixture->library;
    struct registry *registry = NULL;
    struct error err = {0};
    assert_int_equal(
        registry_open((const char *const[]){gone, NULL}, NULL, &registry, &err),
        LATHE_ENOTFOUND);
    assert_non_null(strstr(err.where, gone));
    assert_int_not_equal(
        registry_open((const char *const[]){file, NULL}, NULL, &registry, &err),
        LATHE_OK);
    assert_non_null(strstr(err.what, "Not a directory"));
    assert_null(registry);
    free(gone);
}

static void environment_lists_places(void **state) {
    const struct fixture *fixture = *state;
    add_plugin(fixture, "a/x", "callback", "t-x");
    add_plugin(fixture, "b/y", "callback", "t-y");
    add_plugin(fixture, "here/z", "callback", "t-here");
    add_plugin(fixture, ".local/lib/lathe/plugins/u", "callback", "t-user");
    char *list = text_make(":%s/a::%s/gone:%s/b:", fixture->folder, fixture->folder,
                           fixture->folder);
    char *before = getcwd(NULL, 0), *here = path_join(fixture->folder, "here");
    setenv("LATHE_PLUGIN_PATH", list, 1);
    assert_int_equal(chdir(here), 0); /* an empty element is not this directory */
    struct registry *registry = NULL;
    struct error err = {0};
    assert_int_equal(registry_open(NULL, NULL, &registry, &err), LATHE_OK);
    assert_int_equal(chdir(before), 0);
    assert_found(fixture, registry, "ok t-x, ok t-y, ok t-user");
    assert_string_equal(registry_place_at(registry, 0)->origin, "LATHE_PLUGIN_PATH");
    assert_int_equal(registry_place_at(registry, 1)->problem.status, LATHE_ENOTFOUND);
    assert_string_equal(registry_place_at(registry, 3)->origin, "user");
    assert_null(registry_place_at(registry, 99));
    registry_close(registry);
    free(before);
    free(here);
    free(list);
}

static void same_place_twice_is_searched_once(void **state) {
    const struct fixture *fixture = *state;
    add_plugin(fixture, "a/x", "callback", "t-x");
    shell("ln -s a '%s/again'", fixture->folder);
    struct registry *registry = scan(fixture, "a", "again");
    assert_found(fixture, registry, "ok t-x");
    registry_close(registry);
}

static void assert_not_found(const struct registry *registry, uint32_t kind,
                             const char *name, const char *what, const char *help) {
    const struct manifest *manifest = (const struct manifest *)&help;
    struct error err = {0};
    assert_int_equal(registry_find(registry, kind, name, &manifest, &err),
                     LATHE_EMISSING);
    assert_null(manifest);
    assert_string_equal(err.what, what);
    if (!strstr(err.help, help)) fail_msg("\"%s\" is not in \"%s\"", help, err.help);
}

static void what_is_not_found_is_explained(void **state) {
    const struct fixture *fixture = *state;
    add_plugin(fixture, "a/x", "optimizer", "t-adamw");
    add_plugin(fixture, "a/y", "callback", "t-bad");
    shell("echo text >'%s/a/y/x.so'", fixture->folder);
    struct registry *registry = scan(fixture, "a", NULL);
    assert_not_found(registry, LATHE_KIND_OPTIMIZER, "t-adamm",
                     "there is no optimizer \"t-adamm\"", "did you mean \"t-adamw\"?");
    assert_not_found(registry, LATHE_KIND_SCHEDULE, "t-adamw",
                     "there is no schedule \"t-adamw\"",
                     "is an optimizer: optimizer/t-adamw");
    assert_not_found(registry, LATHE_KIND_CALLBACK, "quite-different",
                     "there is no callback \"quite-different\"", fixture->folder);
    struct error err = {0};
    const struct manifest *manifest;
    registry_find(registry, LATHE_KIND_CALLBACK, "t-bad", &manifest, &err);
    assert_non_null(
        strstr(err.what, "callback \"t-bad\" was refused: it is not a shared object"));
    assert_non_null(strstr(err.what, "/a/y/x.so)"));
    registry_close(registry);
}

static void linked_plugins_come_first(void **state) {
    const struct fixture *fixture = *state;
    static const lathe_plugin entry = {.size = sizeof entry,
                                       .kind = LATHE_KIND_CALLBACK};
    lathe_linked_plugin linked = {.size = sizeof linked, .plugin = &entry};
    linked.manifest = "{ \"lathe\": 1, \"kind\": \"callback\", \"name\": \"t-x\","
                      " \"version\": \"1\" }";
    lathe_linked_plugin bad = {.size = sizeof bad, .plugin = &entry, .manifest = "{"};
    add_plugin(fixture, "a/x", "callback", "t-x");
    char *place = path_join(fixture->folder, "a");
    struct registry *registry = NULL;
    const struct manifest *manifest = NULL;
    struct error err = {0};
    assert_int_equal(
        registry_open((const char *const[]){place, NULL},
                      (const lathe_linked_plugin *const[]){&bad, &linked, NULL},
                      &registry, &err),
        LATHE_OK);
    assert_found(fixture, registry, "shadowed t-x");
    registry_find(registry, LATHE_KIND_CALLBACK, "t-x", &manifest, &err);
    assert_ptr_equal(manifest->linked, &entry);
    assert_int_equal(registry_at(registry, 0)->status, REGISTRY_REFUSED);
    registry_close(registry);
    free(place);
}

/* Of this process alone: the machine may be busy. */
static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void hundred_plugins_take_little_time(void **state) {
    const struct fixture *fixture = *state;
    for (int i = 0; i < 100; i++) {
        char place[32], name[16];
        snprintf(place, sizeof place, "a/callback/%03d", i);
        snprintf(name, sizeof name, "t-%03d", i);
        add_plugin(fixture, place, "callback", name);
    }
    double best = 1e9;
    for (int i = 0; i < 10; i++) {
        double start = now_ms();
        struct registry *registry = scan(fixture, "a", NULL);
        double took = now_ms() - start;
        assert_true(registry_count(registry) >= 100);
        registry_close(registry);
        if (took < best) best = took;
    }
    print_message("100 plugins: %.1f ms\n", best);
    if (!IS_SANITIZED) assert_true(best <= 20);
}

#define WITH_FIXTURE(test)                                                             \
    cmocka_unit_test_setup_teardown(test, make_fixture, remove_fixture)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(order_is_that_of_places_and_bytes),
        WITH_FIXTURE(first_of_a_kind_and_name_wins),
        WITH_FIXTURE(refused_one_shadows_nothing),
        WITH_FIXTURE(bad_ones_skip_only_themselves),
        WITH_FIXTURE(links_are_followed),
        WITH_FIXTURE(whoever_owns_the_folder_above_owns_the_plugin),
        WITH_FIXTURE(long_names_are_only_refused),
        WITH_FIXTURE(given_place_must_be_there),
        WITH_FIXTURE(environment_lists_places),
        WITH_FIXTURE(same_place_twice_is_searched_once),
        WITH_FIXTURE(what_is_not_found_is_explained),
        WITH_FIXTURE(linked_plugins_come_first),
        WITH_FIXTURE(hundred_plugins_take_little_time),
    };
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
