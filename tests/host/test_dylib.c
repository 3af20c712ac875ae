/* SPDX-License-Identifier: MIT */
/* Libraries that are compiled here, with $CC, and opened. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "dylib.h"
#include "support/test.h"

static int make_folder(void **state) {
    char pattern[] = "/tmp/lathe-dylib-XXXXXX";
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

/* <folder>/<name> from C text; the caller's. */
static char *compile(const char *folder, const char *name, const char *code,
                     const char *flags) {
    const char *compiler = getenv("CC");
    char *path = path_join(folder, name), *source = text_make("%s.c", path);
    FILE *file = fopen(source, "w");
    assert_non_null(file);
    fputs(code, file);
    fclose(file);
    char *command = text_make("umask 022; '%s' -shared -fPIC -o '%s' '%s' %s",
                              compiler ? compiler : "cc", path, source, flags);
    assert_int_equal(system(command), 0);
    free(command);
    free(source);
    return path;
}

static void assert_refused(const char *path, const char *what) {
    struct error err = {0};
    struct dylib *library = NULL;
    assert_int_equal(dylib_open(path, &library, &err), LATHE_EMISSING);
    assert_null(library);
    if (!strstr(err.what, what)) fail_msg("\"%s\" is not in \"%s\"", what, err.what);
    assert_non_null(strstr(err.where, path));
}

static void assert_compiled_refused(const char *folder, const char *name,
                                    const char *code, const char *flags,
                                    const char *what) {
    char *path = compile(folder, name, code, flags);
    assert_refused(path, what);
    free(path);
}

static void symbols_outlive_the_handle(void **state) {
    char *path = compile(*state, "a.so",
                         "const int answer = 42;"
                         "int twice(int x) { return 2 * x; }",
                         "");
    struct dylib *library = NULL;
    struct error err = {0};
    assert_int_equal(dylib_check(path, &err), LATHE_OK);
    assert_int_equal(dylib_open(path, &library, &err), LATHE_OK);
    const int *answer = dylib_symbol(library, "answer");
    int (*twice)(int) = (int (*)(int))dylib_function(library, "twice");
    assert_non_null(answer);
    assert_null(dylib_symbol(library, "question"));
    assert_null(dylib_function(library, "thrice"));
    dylib_close(library);
    assert_int_equal(*answer, 42);
    assert_int_equal(twice(21), 42);
    dylib_close(NULL);
    free(path);
}

static void symbol_of_a_needed_library_is_not_ones_own(void **state) {
    char *helper =
        compile(*state, "helper.so", "const int answer = 1; void f(void) {}", "");
    char *flags = text_make("-Wl,--no-as-needed '%s'", helper);
    char *path = compile(*state, "b.so",
                         "extern const int answer;"
                         "int get(void) { return answer; }",
                         flags);
    struct dylib *library = NULL;
    struct error err = {0};
    assert_int_equal(dylib_open(path, &library, &err), LATHE_OK);
    assert_null(dylib_symbol(library, "answer"));
    assert_non_null(dylib_function(library, "f"));
    dylib_close(library);
    free(path);
    free(flags);
    free(helper);
}

static void check_runs_no_code(void **state) {
    char *mark = path_join(*state, "mark");
    char *code =
        text_make("#include <stdio.h>\n__attribute__((constructor)) static void f("
                  "void) { fclose(fopen(\"%s\", \"w\")); }",
                  mark);
    char *path = compile(*state, "c.so", code, "");
    struct error err = {0};
    struct dylib *library = NULL;
    assert_int_equal(dylib_check(path, &err), LATHE_OK);
    assert_int_equal(access(mark, F_OK), -1);
    assert_int_equal(dylib_open(path, &library, &err), LATHE_OK);
    assert_int_equal(access(mark, F_OK), 0); /* so the mark does tell */
    dylib_close(library);
    free(path);
    free(code);
    free(mark);
}

static void undefined_symbol_is_named(void **state) {
    char *path = compile(*state, "d.so",
                         "int missing_one(void);"
                         "int f(void) { return missing_one(); }",
                         "");
    assert_refused(path, "it cannot be loaded: undefined symbol: missing_one");
    free(path);
}

static void missing_library_is_named(void **state) {
    char *gone = compile(*state, "gone.so", "int f(void) { return 1; }",
                         "-Wl,-soname,liblathe-gone.so.3");
    char *flags = text_make("-Wl,--no-as-needed '%s'", gone);
    char *path =
        compile(*state, "e.so", "int f(void); int g(void) { return f(); }", flags);
    assert_refused(path, "it cannot be loaded: liblathe-gone.so.3: cannot open shared");
    free(path);
    free(flags);
    free(gone);
}

static size_t count_entries(const char *folder) {
    size_t count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    while (readdir(directory)) count++;
    closedir(directory);
    return count;
}

static size_t count_mappings(void) {
    size_t count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    char line[4096];
    while (fgets(line, sizeof line, maps))
        if (strstr(line, ".so")) count++;
    fclose(maps);
    return count;
}

static void failed_loads_leave_nothing(void **state) {
    char *undefined = compile(*state, "f.so",
                              "int missing_two(void);"
                              "int f(void) { return missing_two(); }",
                              "");
    char *text = path_join(*state, "text.so");
    FILE *file = fopen(text, "w");
    fputs("not a library", file);
    fclose(file);
    assert_refused(undefined, "missing_two");
    size_t files = count_entries("/proc/self/fd"), mappings = count_mappings();
    for (int i = 0; i < 1000; i++) {
        struct dylib *library = NULL;
        assert_int_equal(dylib_open(undefined, &library, NULL), LATHE_EMISSING);
        assert_int_equal(dylib_open(text, &library, NULL), LATHE_EMISSING);
    }
    assert_int_equal(count_entries("/proc/self/fd"), files);
    assert_int_equal(count_mappings(), mappings);
    free(undefined);
    free(text);
}

/* dlopen("x.so") would look in the system's directories. */
static void bare_name_is_a_file_of_this_directory(void **state) {
    char *here = getcwd(NULL, 0),
         *path = compile(*state, "g.so", "const int g = 7;", "");
    struct dylib *library = NULL;
    struct error err = {0};
    assert_int_equal(chdir(*state), 0);
    lathe_status found = dylib_open("g.so", &library, &err);
    lathe_status system_library =
        dylib_open("libm.so.6", &(struct dylib *){NULL}, &err);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(found, LATHE_OK);
    assert_int_equal(*(const int *)dylib_symbol(library, "g"), 7);
    assert_int_equal(system_library, LATHE_ENOTFOUND);
    dylib_close(library);
    free(path);
    free(here);
}

static void same_soname_elsewhere_is_another_library(void **state) {
    char *folder = path_join(*state, "other");
    mkdir(folder, 0755);
    char *first =
        compile(*state, "same.so", "const int which = 1;", "-Wl,-soname,same.so");
    char *second =
        compile(folder, "same.so", "const int which = 2;", "-Wl,-soname,same.so");
    struct dylib *libraries[2] = {NULL, NULL};
    struct error err = {0};
    assert_int_equal(dylib_open(first, &libraries[0], &err), LATHE_OK);
    assert_int_equal(dylib_open(second, &libraries[1], &err), LATHE_OK);
    assert_int_equal(*(const int *)dylib_symbol(libraries[0], "which"), 1);
    assert_int_equal(*(const int *)dylib_symbol(libraries[1], "which"), 2);
    dylib_close(libraries[0]);
    dylib_close(libraries[1]);
    free(first);
    free(second);
    free(folder);
}

static void own_names_are_not_put_in_the_place_of_others(void **state) {
    const char *getpid_of_its_own = "int getpid(void) { return 1; }";
    assert_compiled_refused(*state, "i.so", getpid_of_its_own, "",
                            "it exports \"getpid\", which this program has too");
    const char *unique = "__asm__(\".data; .globl one; .type one, "
                         "@gnu_unique_object; one: .long 0; .text\"); int i;";
    assert_compiled_refused(*state, "j.so", unique, "",
                            "it exports \"one\" as unique in the process");
    /* It finds its own in itself. */
    char *path = compile(*state, "k.so", getpid_of_its_own, "-Wl,-Bsymbolic");
    struct dylib *library = NULL;
    struct error err = {0};
    assert_int_equal(dylib_open(path, &library, &err), LATHE_OK);
    dylib_close(library);
    free(path);
}

/* It would have been the system's, or none. */
static void a_library_of_anothers_is_not_used(void **state) {
    char *helper = compile(*state, "libapart.so.1", "int apart(void) { return 1; }",
                           "-Wl,-soname,libapart.so.1");
    char *own = text_make("-Wl,--no-as-needed '%s' -Wl,-rpath,'%s'", helper,
                          (const char *)*state);
    char *bare = text_make("-Wl,--no-as-needed '%s'", helper);
    char *first = compile(*state, "l.so", "int l;", own);
    struct dylib *library = NULL;
    struct error err = {0};
    assert_int_equal(dylib_open(first, &library, &err), LATHE_OK);
    assert_compiled_refused(*state, "m.so", "int m;", bare,
                            "it needs \"libapart.so.1\", and another library of that "
                            "name is loaded already: ");
    dylib_close(library);
    free(helper);
    free(own);
    free(bare);
    free(first);
}

static void section_headers_are_not_needed(void **state) {
    char *path = compile(*state, "h.so", "const int h = 8;", "");
    /* e_shoff, e_shentsize, e_shnum, e_shstrndx */
    static const char none[8] = {0};
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, none, 8, 0x28), 8);
    assert_int_equal(pwrite(fd, none, 6, 0x3a), 6);
    close(fd);
    struct dylib *library = NULL;
    struct error err = {0};
    assert_int_equal(dylib_open(path, &library, &err), LATHE_OK);
    assert_int_equal(*(const int *)dylib_symbol(library, "h"), 8);
    dylib_close(library);
    free(path);
}

static void things_that_are_no_files_do_not_block(void **state) {
    char *fifo = path_join(*state, "fifo.so"), *folder = path_join(*state, "folder.so"),
         *device = path_join(*state, "device.so");
    assert_int_equal(mkfifo(fifo, 0644), 0);
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_int_equal(symlink("/dev/zero", device), 0);
    struct error err;
    assert_int_not_equal(dylib_check(fifo, &err), LATHE_OK);
    assert_non_null(strstr(err.what, "FIFO"));
    assert_int_not_equal(dylib_check(folder, &err), LATHE_OK);
    assert_non_null(strstr(err.what, "directory"));
    assert_int_not_equal(dylib_check(device, &err), LATHE_OK);
    assert_non_null(strstr(err.what, "device"));
    assert_non_null(strstr(err.where, "device.so -> /dev/zero"));
    free(fifo);
    free(folder);
    free(device);
}

#define WITH_FOLDER(test)                                                              \
    cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(symbols_outlive_the_handle),
        WITH_FOLDER(symbol_of_a_needed_library_is_not_ones_own),
        WITH_FOLDER(check_runs_no_code),
        WITH_FOLDER(undefined_symbol_is_named),
        WITH_FOLDER(missing_library_is_named),
        WITH_FOLDER(failed_loads_leave_nothing),
        WITH_FOLDER(bare_name_is_a_file_of_this_directory),
        WITH_FOLDER(same_soname_elsewhere_is_another_library),
        WITH_FOLDER(own_names_are_not_put_in_the_place_of_others),
        WITH_FOLDER(a_library_of_anothers_is_not_used),
        WITH_FOLDER(section_headers_are_not_needed),
        WITH_FOLDER(things_that_are_no_files_do_not_block),
    };
    return cmocka_run_group_tests_name("dylib", tests, NULL, NULL);
}
