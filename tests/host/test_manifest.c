/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "manifest.h"
#include "support/test.h"

static int make_folder(void **state) {
    char pattern[] = "/tmp/lathe-manifest-XXXXXX";
    *state = text_copy(mkdtemp(pattern));
    return *state ? 0 : -1;
}

static int remove_folder(void **state) {
    char *command = text_make("rm -rf '%s'", (char *)*state);
    int result = system(command);
    free(command);
    free(*state);
    return result;
}

/* <folder>/plugin.json; the caller's. */
static char *write_file(const char *folder, const char *bytes, size_t count) {
    char *path = path_join(folder, "plugin.json");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
    chmod(path, 0644);
    return path;
}

static lathe_status read_manifest(const char *path, struct manifest **manifest,
                                  struct error *err) {
    struct json *format = NULL;
    assert_int_equal(manifest_format(&format, err), LATHE_OK);
    lathe_status status = manifest_read(path, format, manifest, err);
    json_close(format);
    return status;
}

static lathe_status read_linked(const lathe_linked_plugin *linked,
                                struct manifest **manifest, struct error *err) {
    struct json *format = NULL;
    assert_int_equal(manifest_format(&format, err), LATHE_OK);
    lathe_status status = manifest_from_linked(linked, format, manifest, err);
    json_close(format);
    return status;
}

#define HEAD "\"lathe\": 1, \"version\": \"1.0.0\", \"library\": \"x.so\""
#define CALLBACK HEAD ", \"kind\": \"callback\", \"name\": \"x\""
#define OPTIMIZER HEAD ", \"kind\": \"optimizer\", \"name\": \"x\""
#define RATE "\"lr\": { \"type\": \"number\", \"default\": 0.1 }"
#define NO_LIBRARY                                                                     \
    "\"lathe\": 1, \"version\": \"1\", \"kind\": \"callback\", \"name\": \"x\""

static const char whole[] =
    "{ \"lathe\": 1, \"kind\": \"optimizer\", \"name\": \"early-9\", \"version\": "
    "\"2.1\","
    " \"license\": \"MIT\", \"summary\": \"Does it\", \"library\": \"lib_x-1.so\","
    " \"options\": { " RATE ", \"k\": { \"type\": \"integer\", \"minimum\": 1 } },"
    " \"metrics\": [ { \"name\": \"accuracy\", \"higher_is_better\": true } ] }";

static void whole_manifest_is_read(void **state) {
    char *path = write_file(*state, whole, strlen(whole));
    struct manifest *manifest = NULL;
    struct error err = {0};
    assert_int_equal(read_manifest(path, &manifest, &err), LATHE_OK);
    assert_int_equal(manifest->kind, LATHE_KIND_OPTIMIZER);
    assert_string_equal(manifest->name, "early-9");
    assert_string_equal(manifest->version, "2.1");
    assert_string_equal(manifest->license, "MIT");
    assert_string_equal(manifest->summary, "Does it");
    assert_string_equal(manifest->path, path);
    char *library = path_join(*state, "lib_x-1.so");
    assert_string_equal(manifest->library_path, library);
    assert_int_equal(json_size(manifest->options), 2);
    assert_string_equal(json_key_at(manifest->options, 1), "k");
    assert_true(
        json_truth(json_get(json_at(manifest->metrics, 0), "higher_is_better")));
    assert_null(manifest->linked);
    manifest_close(manifest);
    free(library);
    free(path);
}

static void little_is_enough(void **state) {
    static const char least[] = "{ " CALLBACK " }";
    char *path = write_file(*state, least, strlen(least));
    struct manifest *manifest = NULL;
    struct error err = {0};
    assert_int_equal(read_manifest(path, &manifest, &err), LATHE_OK);
    assert_string_equal(manifest->license, "");
    assert_string_equal(manifest->summary, "");
    assert_int_equal(json_kind(manifest->options), JSON_MAP);
    assert_int_equal(json_size(manifest->options), 0);
    assert_null(manifest->metrics);
    manifest_close(manifest);
    free(path);
}

/* What stands in the file, where the fault is, and a piece of what is said. */
static const struct {
    const char *content, *where, *what;
} faults[] = {
    {"", ":1:1", ""},
    {"[]", "", "object"},
    {"{ \"lathe\": 1 ", ":1:14", ""},
    {"{ " CALLBACK ", \"lathe\": 1 }", ":1:", "lathe"},
    {"{ " CALLBACK ", \"libary\": \"x.so\" }", ": libary", "libary"},
    {"{ \"kind\": \"callback\", \"name\": \"x\", \"version\": \"1\" }", ": lathe",
     "lathe"},
    {"{ \"lathe\": 2, \"kind\": \"callback\", \"name\": \"x\", \"version\": \"1\" }",
     ": lathe", "2 is not allowed"},
    {"{ \"lathe\": 1, \"kind\": \"optimiser\", \"name\": \"x\", \"version\": \"1\" }",
     ": kind", "optimiser"},
    {"{ " HEAD ", \"kind\": 3, \"name\": \"x\" }", ": kind", "3"},
    {"{ " HEAD ", \"kind\": \"callback\", \"name\": \"Early\" }", ": name",
     "\"Early\" is no name for a plugin"},
    {"{ " HEAD ", \"kind\": \"callback\", \"name\": \"a_b\" }", ": name", "is no name"},
    {"{ " HEAD ", \"kind\": \"callback\", \"name\": \"\" }", ": name", "is no name"},
    {"{ " HEAD ", \"kind\": \"callback\", \"name\": \"a\\u001b[31m\" }", ": name",
     "is no name"},
    {"{ " CALLBACK ", \"summary\": \"a\\u001b[2J\" }", ": summary",
     "control character"},
    {"{ " CALLBACK ", \"summary\": \"a\\u009b2J\" }", ": summary", "control character"},
    {"{ " CALLBACK ", \"summary\": \"two\\nlines\" }", ": summary",
     "control character"},
    {"{ " NO_LIBRARY " }", ": library", "\"library\" is missing"},
    {"{ " CALLBACK ", \"metrics\": [{ \"name\": \"\" }] }", ": metrics.0.name",
     "\"\" cannot be the name of a metric"},
    {"{ " CALLBACK ", \"metrics\": [{ \"name\": \"a/b\" }] }", ": metrics.0.name",
     "\"a/b\" cannot be the name of a metric"},
    {"{ " CALLBACK ", \"metrics\": [{ \"name\": \"loss\" }] }", ": metrics.0.name",
     "\"loss\" is the host's metric"},
    {"{ " CALLBACK ", \"metrics\": [{ \"name\": \"a\" }, { \"name\": \"a\" }] }",
     ": metrics.1.name", "\"a\" is listed twice"},
    {"{ " CALLBACK ", \"options\": [] }", ": options", "object"},
    {"{ " CALLBACK ", \"options\": { \"use\": { \"type\": \"string\" } } }",
     ": options.use", "\"use\" is reserved"},
    {"{ " CALLBACK ", \"options\": { \"id\": { \"type\": \"string\" } } }",
     ": options.id", "\"id\" is reserved"},
    {"{ " OPTIMIZER ", \"options\": { " RATE
     ", \"groups\": { \"type\": \"array\" } } }",
     ": options.groups", "\"groups\" is reserved"},
    {"{ " OPTIMIZER ", \"options\": { " RATE
     ", \"keep\": { \"type\": \"boolean\" } } }",
     ": options.keep", "\"keep\" is reserved"},
    {"{ " OPTIMIZER " }", ": options", "must declare the option \"lr\""},
    {"{ " OPTIMIZER ", \"options\": { \"rate\": { \"type\": \"number\" } } }",
     ": options", "must declare the option \"lr\""},
    {"{ " OPTIMIZER ", \"options\": { \"lr\": { \"type\": \"string\" } } }",
     ": options.lr", "must be of type \"number\""},
    {"{ " CALLBACK ", \"options\": { \"a.b\": { \"type\": \"string\" } } }",
     ": options.a.b", "no name for an option"},
    {"{ " CALLBACK
     ", \"options\": { \"a\": { \"type\": \"string\", \"pattern\": \"x\" } } }",
     ": options.a", "pattern"},
    {"{ " CALLBACK
     ", \"options\": { \"a\": { \"type\": \"integer\", \"default\": \"x\" } } }",
     ": options.a", ""},
    {"{ " CALLBACK ", \"metrics\": { } }", ": metrics", "array"},
    {"{ " CALLBACK ", \"metrics\": [ { \"higher_is_better\": true } ] }", ": metrics.0",
     "name"},
    {"{ " CALLBACK ", \"metrics\": [ { \"name\": \"a\", \"better\": true } ] }",
     ": metrics.0.better", "better"},
};

static void assert_fault(const char *path, const struct error *err, const char *where,
                         const char *what) {
    if (strncmp(err->where, path, strlen(path)) != 0 ||
        strncmp(err->where + strlen(path), where, strlen(where)) != 0)
        fail_msg("where is \"%s\", not \"%s%s\"", err->where, path, where);
    if (!strstr(err->what, what) || !err->what[0])
        fail_msg("\"%s\" is not in \"%s\"", what, err->what);
}

static void every_fault_is_told_with_its_place(void **state) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char *path = write_file(*state, faults[i].content, strlen(faults[i].content));
        struct manifest *manifest = NULL;
        struct error err = {0};
        if (read_manifest(path, &manifest, &err) != LATHE_EINVAL)
            fail_msg("accepted: %s", faults[i].content);
        assert_fault(path, &err, faults[i].where, faults[i].what);
        manifest_close(manifest);
        free(path);
    }
}

static void library_is_a_plain_name_beside_it(void **state) {
    static const char *const names[] = {
        "",           "../x.so", "/abs/x.so",       "a/x.so",     "a/../../x.so",
        ".",          "..",      "a\\\\..\\\\x.so", "%2e%2e",     "x.so ",
        " x.so",      "-x.so",   "x\\n.so",         ".hidden.so", "x\\u00e9.so",
        "$ORIGIN.so", "x:y.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *content = text_make("{ " NO_LIBRARY ", \"library\": \"%s\" }", names[i]);
        char *path = write_file(*state, content, strlen(content));
        struct manifest *manifest = NULL;
        struct error err = {0};
        if (read_manifest(path, &manifest, &err) != LATHE_EINVAL)
            fail_msg("accepted: \"%s\"", names[i]);
        assert_fault(path, &err, ": library", "is not the plain name of a file");
        assert_string_equal(manifest->library_path, "");
        manifest_close(manifest);
        free(path);
        free(content);
    }
}

static void nul_cannot_cut_a_name_short(void **state) {
    static const char content[] =
        "{ " NO_LIBRARY ", \"library\": \"x.so\\u0000/../y\" }";
    char *path = write_file(*state, content, strlen(content));
    struct manifest *manifest = NULL;
    struct error err = {0};
    assert_int_equal(read_manifest(path, &manifest, &err), LATHE_EINVAL);
    manifest_close(manifest);
    free(path);
}

static void what_is_understood_of_a_bad_one_is_kept(void **state) {
    static const char content[] = "{ " CALLBACK ", \"wrong\": 1, \"options\": 3 }";
    char *path = write_file(*state, content, strlen(content));
    struct manifest *manifest = NULL;
    struct error err = {0};
    assert_int_equal(read_manifest(path, &manifest, &err), LATHE_EINVAL);
    assert_non_null(manifest);
    assert_int_equal(manifest->kind, LATHE_KIND_CALLBACK);
    assert_string_equal(manifest->name, "x");
    assert_null(manifest->options);
    manifest_close(manifest);
    free(path);
}

static void larger_than_256_kib_is_refused(void **state) {
    size_t count = (256 << 10) + 1;
    char *bytes = malloc(count);
    memset(bytes, ' ', count);
    memcpy(bytes, whole, strlen(whole));
    struct manifest *manifest = NULL;
    struct error err = {0};
    char *path = write_file(*state, bytes, count);
    assert_int_equal(read_manifest(path, &manifest, &err), LATHE_EINVAL);
    assert_string_equal(err.what, "it has 262145 bytes, a manifest has at most 262144");
    assert_string_equal(err.where, path);
    manifest_close(manifest);
    assert_int_equal(truncate(path, 256 << 10), 0);
    assert_int_equal(read_manifest(path, &manifest, &err), LATHE_OK);
    manifest_close(manifest);
    free(path);
    free(bytes);
}

static void somebody_elses_is_refused_but_known_by_name(void **state) {
    char *path = write_file(*state, whole, strlen(whole));
    struct manifest *manifest = NULL;
    struct error err = {0};
    chmod(path, 0666);
    assert_int_equal(read_manifest(path, &manifest, &err), LATHE_EPERM);
    assert_string_equal(manifest->name, "early-9");
    assert_non_null(strstr(err.help, "chmod o-w "));
    assert_string_equal(err.where, path);
    manifest_close(manifest);
    free(path);
}

static void things_that_are_no_files_do_not_block(void **state) {
    char *path = path_join(*state, "plugin.json");
    struct manifest *manifest = NULL;
    struct error err = {0};
    assert_int_equal(read_manifest(path, &manifest, &err), LATHE_ENOTFOUND);
    manifest_close(manifest);
    assert_int_equal(mkfifo(path, 0644), 0);
    assert_int_not_equal(read_manifest(path, &manifest, &err), LATHE_OK);
    assert_non_null(strstr(err.what, "FIFO"));
    manifest_close(manifest);
    free(path);
}

static void linked_plugin_needs_no_library(void **state) {
    (void)state;
    static const lathe_plugin entry = {.size = sizeof entry,
                                       .kind = LATHE_KIND_CALLBACK};
    lathe_linked_plugin linked = {.size = sizeof linked, .plugin = &entry};
    struct manifest *manifest = NULL;
    struct error err = {0};
    linked.manifest = "{ " NO_LIBRARY " }";
    assert_int_equal(read_linked(&linked, &manifest, &err), LATHE_OK);
    assert_ptr_equal(manifest->linked, &entry);
    assert_string_equal(manifest->path, "(linked)");
    assert_string_equal(manifest->library_path, "");
    manifest_close(manifest);
    linked.manifest = "{ " NO_LIBRARY ", \"optoins\": {} }";
    assert_int_equal(read_linked(&linked, &manifest, &err), LATHE_EINVAL);
    assert_string_equal(err.where, "(linked): optoins");
    manifest_close(manifest);
    linked.manifest = NULL;
    assert_int_equal(read_linked(&linked, &manifest, &err), LATHE_EINVAL);
    manifest_close(manifest);
}

static void kinds_have_names(void **state) {
    (void)state;
    for (uint32_t kind = LATHE_KIND_DATASET; kind <= LATHE_KIND_COMM; kind++)
        assert_int_equal(manifest_kind_find(manifest_kind_name(kind)), kind);
    assert_int_equal(manifest_kind_find("?"), LATHE_KIND_NONE);
    assert_int_equal(manifest_kind_find(""), LATHE_KIND_NONE);
    assert_string_equal(manifest_kind_name(LATHE_KIND_NONE), "?");
    assert_string_equal(manifest_kind_name(99), "?");
}

#define WITH_FOLDER(test)                                                              \
    cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(whole_manifest_is_read),
        WITH_FOLDER(little_is_enough),
        WITH_FOLDER(every_fault_is_told_with_its_place),
        WITH_FOLDER(library_is_a_plain_name_beside_it),
        WITH_FOLDER(nul_cannot_cut_a_name_short),
        WITH_FOLDER(what_is_understood_of_a_bad_one_is_kept),
        WITH_FOLDER(larger_than_256_kib_is_refused),
        WITH_FOLDER(somebody_elses_is_refused_but_known_by_name),
        WITH_FOLDER(things_that_are_no_files_do_not_block),
        cmocka_unit_test(linked_plugin_needs_no_library),
        cmocka_unit_test(kinds_have_names),
    };
    return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}
