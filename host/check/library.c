/* SPDX-License-Identifier: MIT */
/* What can be told of a plugin before an instance is made. */
#include <stdlib.h>
#include <string.h>

#include "check/symbols.h"
#include "check/tests.h"

void test_manifest(struct check *check) {
    const struct subject *subject = check->subject;
    const struct manifest *m = subject->manifest;
    if (subject->refused.status != LATHE_OK) {
        check_fail(check, "%s (%s)", subject->refused.what, subject->refused.where);
        return;
    }
    if (m->kind == LATHE_KIND_COMM)
        check_skip(check, "communicators are a draft, and nothing is checked of them");
    else if (!m->version[0])
        check_warn(check, "it has no version");
    else if (!m->summary[0])
        check_warn(check, "it has no summary");
}

struct exports {
    struct text others;
    int count;
    bool has_entry;
};

/* What linkers have put there of themselves. */
static bool is_linkers(const char *name) {
    static const char *const names[] = {"_init", "_fini", "_edata", "_end",
                                        "__bss_start"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

static void see_export(void *context, const char *name, bool is_defined) {
    struct exports *exports = context;
    if (!is_defined || is_linkers(name)) return;
    if (!strcmp(name, "lathe_plugin_v1")) {
        exports->has_entry = true;
    } else if (exports->count++ < 4) {
        text_format(&exports->others, "%s%s", exports->others.length ? ", " : "", name);
    }
}

void test_exports(struct check *check) {
    struct exports exports = {0};
    struct error err = {0};
    if (symbols_read(check->subject->manifest->library_path, see_export, &exports,
                     &err) != LATHE_OK)
        check_fail(check, "%s", err.what);
    else if (!exports.has_entry)
        check_fail(check, "it does not export \"lathe_plugin_v1\"");
    else if (exports.count)
        check_fail(check,
                   "it exports %d more than \"lathe_plugin_v1\": %s%s; build it with "
                   "-fvisibility=hidden, and make all functions static",
                   exports.count, exports.others.data, exports.count > 4 ? ", …" : "");
    text_finish(&exports.others);
}

static const struct {
    const char *name, *why;
} host_business[] = {
    {"exit", "ends the process"},          {"_exit", "ends the process"},
    {"_Exit", "ends the process"},         {"quick_exit", "ends the process"},
    {"abort", "ends the process"},         {"__assert_fail", "ends the process"},
    {"longjmp", "jumps over the host"},    {"_longjmp", "jumps over the host"},
    {"siglongjmp", "jumps over the host"}, {"__longjmp_chk", "jumps over the host"},
    {"fork", "copies the process"},        {"vfork", "copies the process"},
    {"setlocale", "changes the process"},  {"signal", "changes the process"},
    {"sigaction", "changes the process"},  {"chdir", "changes the process"},
    {"umask", "changes the process"},      {"setenv", "changes the process"},
    {"putenv", "changes the process"},     {"unsetenv", "changes the process"},
    {"fesetenv", "changes the process"},   {"fesetround", "changes the process"},
};

static void see_call(void *context, const char *name, bool is_defined) {
    struct text *found = context;
    for (size_t i = 0; i < sizeof host_business / sizeof *host_business; i++)
        if (!is_defined && !strcmp(host_business[i].name, name))
            text_format(found, "%s%s (%s)", found->length ? ", " : "", name,
                        host_business[i].why);
}

void test_calls(struct check *check) {
    struct text found = {0};
    struct error err = {0};
    if (symbols_read(check->subject->manifest->library_path, see_call, &found, &err) !=
        LATHE_OK)
        check_fail(check, "%s", err.what);
    else if (found.length)
        check_warn(check, "it refers to %s", found.data);
    text_finish(&found);
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
