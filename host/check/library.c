/* SPDX-License-Identifier: MIT */
/* What can be told of a plugin before an instance is made. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf_object.h"
#include "base/file.h"
#include "check/tests.h"
#include "dylib.h"

/* Has the library one of its own, which that in the file was compared with? */
static bool carries_manifest(const struct manifest *m) {
    char *text = NULL;
    size_t length;
    struct error err = {0};
    const bool does =
        m->library_path[0] &&
        dylib_manifest(m->library_path, &text, &length, &err) == LATHE_OK && text;
    free(text);
    return does;
}

void test_manifest(struct check *check) {
    const struct subject *subject = check->subject;
    const struct manifest *m = subject->manifest;
    if (subject->refused.status != LATHE_OK) {
        const struct error *err = &subject->refused;
        const bool is_said = !err->where[0] || strstr(err->what, err->where);
        check_fail(check, is_said ? "%s" : "%s (%s)", err->what, err->where);
        return;
    }
    if (m->kind == LATHE_KIND_COMM)
        check_skip(check, "communicators are a draft, and nothing is checked of them");
    else if (!m->version[0])
        check_warn(check, "it has no version");
    else if (!m->summary[0])
        check_warn(check, "it has no summary");
    else if (!carries_manifest(m))
        check_note(check, "the manifest is sound; the library carries none");
}

/* Names that it shows and takes, read as data; for elf_object_finish. */
static bool read_names(struct check *check, struct elf_object *object) {
    struct error err = {0};
    int fd = -1;
    int64_t size = 0;
    *object = (struct elf_object){0};
    const char *path = check->subject->manifest->library_path;
    lathe_status status = file_open(path, &fd, &size, &err);
    if (status == LATHE_OK) status = elf_object_read(fd, size, true, object, &err);
    if (fd >= 0) close(fd);
    return status == LATHE_OK || check_fail(check, "%s", err.what);
}

/* What linkers have put there of themselves. */
static bool is_linkers(const char *name) {
    static const char *const names[] = {"_init", "_fini", "_edata", "_end",
                                        "__bss_start"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

static void judge_exports(struct check *check, const struct elf_object *object) {
    struct text others = {0};
    int count = 0;
    bool has_entry = false;
    for (size_t i = 0; i < object->export_count; i++) {
        const char *name = object->exports[i].name;
        if (!strcmp(name, "lathe_plugin_v1"))
            has_entry = true;
        else if (!is_linkers(name) && count++ < 4)
            text_format(&others, "%s%s", others.length ? ", " : "", name);
    }
    if (!has_entry)
        check_fail(check, "it does not export \"lathe_plugin_v1\"");
    else if (count)
        check_fail(check,
                   "it exports %d more than \"lathe_plugin_v1\": %s%s; build it with "
                   "-fvisibility=hidden, and make all functions static",
                   count, others.data, count > 4 ? ", …" : "");
    text_finish(&others);
}

void test_exports(struct check *check) {
    struct elf_object object;
    if (read_names(check, &object)) judge_exports(check, &object);
    elf_object_finish(&object);
}

static const struct {
    const char *name, *why;
} host_business[] = {
    {"exit", "ends the process"},
    {"_exit", "ends the process"},
    {"_Exit", "ends the process"},
    {"quick_exit", "ends the process"},
    {"abort", "ends the process"},
    {"__assert_fail", "ends the process"},
    {"longjmp", "jumps over the host"},
    {"_longjmp", "jumps over the host"},
    {"siglongjmp", "jumps over the host"},
    {"__longjmp_chk", "jumps over the host"},
    {"fork", "copies the process"},
    {"vfork", "copies the process"},
    {"setlocale", "changes the process"},
    {"signal", "changes the process"},
    {"sigaction", "changes the process"},
    {"chdir", "changes the process"},
    {"umask", "changes the process"},
    {"setenv", "changes the process"},
    {"putenv", "changes the process"},
    {"unsetenv", "changes the process"},
    {"fesetenv", "changes the process"},
    {"fesetround", "changes the process"},
    {"printf", "prints on standard output"},
    {"vprintf", "prints on standard output"},
    {"puts", "prints on standard output"},
    {"putchar", "prints on standard output"},
    {"__printf_chk", "prints on standard output"},
    {"__vprintf_chk", "prints on standard output"},
};

static void judge_call(const char *name, struct text *found) {
    for (size_t i = 0; i < sizeof host_business / sizeof *host_business; i++)
        if (!strcmp(host_business[i].name, name))
            text_format(found, "%s%s (%s)", found->length ? ", " : "", name,
                        host_business[i].why);
}

void test_calls(struct check *check) {
    struct elf_object object;
    struct text found = {0};
    const bool is_read = read_names(check, &object);
    for (size_t i = 0; is_read && object.wanted[i]; i++)
        judge_call(object.wanted[i], &found);
    if (found.length) check_warn(check, "it refers to %s", found.data);
    text_finish(&found);
    elf_object_finish(&object);
}

void test_functions(struct check *check) {
    struct log log = {0};
    struct loading loading = {.log = &log};
    struct library library;
    struct error err = {0};
    check_doing(check, "dlopen");
    if (library_open(check->subject->manifest, &loading, &library, &err) != LATHE_OK)
        check_fail(check, "%s", err.what);
    else
        library_close(&library);
}
