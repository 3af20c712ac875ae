/* SPDX-License-Identifier: MIT */
/* Can this machine run it? Each no has its reason. */
#include "bundle/tar.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <lathe/abi.h>

#include "base/elf_object.h"
#include "base/file.h"
#include "bundle/machine.h"

/* One that can be run here, unless this machine is not x86_64. */
static void parse(struct text *json, struct bundle *bundle) {
    struct error err = {0};
    struct utsname name;
    *json = (struct text){0};
    json_of(json, NULL, NULL);
    if (bundle_parse(json->data, json->length, "x.lathe", bundle, &err))
        fail_msg("%s", err.what);
    static char machine[sizeof name.machine];
    assert_int_equal(uname(&name), 0);
    memcpy(machine, name.machine, sizeof machine);
    bundle->machine = machine;
}

static void assert_reason(const struct bundle *bundle, const char *text) {
    struct errors reasons = {0};
    machine_check(bundle, &reasons);
    assert_int_equal(reasons.count, 1);
    assert_int_equal(reasons.items[0].status, LATHE_EMISSING);
    if (!strstr(reasons.items[0].what, text))
        fail_msg("\"%s\", not: %s", reasons.items[0].what, text);
    errors_finish(&reasons);
}

static void each_no_has_its_reason(void **state) {
    (void)state;
    struct text json;
    struct bundle bundle;
    struct errors reasons = {0};
    parse(&json, &bundle);
    machine_check(&bundle, &reasons);
    if (reasons.count) fail_msg("%s", reasons.items[0].what);
    struct bundle other = bundle;
    other.machine = "vax";
    assert_reason(&other, "its plugins are for vax, and this machine is");
    other = bundle;
    other.abi_needs = LATHE_ABI_MINOR + 1;
    assert_reason(&other, "its plugins need ABI 1.");
    other = bundle;
    other.glibc[0] = 2;
    other.glibc[1] = 999;
    assert_reason(&other,
                  "its plugins need glibc 2.999 or newer, and this machine has");
    other = bundle;
    struct json *list = json_make_list();
    other.libraries = list;
    assert_true(json_push(list, json_make_text("libc.so.6")));
    assert_true(json_push(list, json_make_text("libnone-such.so.1")));
    assert_reason(&other, "the library libnone-such.so.1 is not on this machine");
    json_close(list);
    bundle_finish(&bundle);
    text_finish(&json);
}

static void a_library_is_a_plain_name_of_a_file(void **state) {
    (void)state;
    static const char *const names[] = {"",
                                        ".",
                                        "..",
                                        "../../../../../../etc/passwd",
                                        "/etc/passwd",
                                        "/",
                                        "x/../libc.so.6"};
    struct text json;
    struct bundle bundle;
    parse(&json, &bundle);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct json *list = json_make_list();
        assert_true(json_push(list, json_make_text(names[i])));
        struct bundle other = bundle;
        other.libraries = list;
        assert_reason(&other, "is not on this machine");
        json_close(list);
    }
    bundle_finish(&bundle);
    text_finish(&json);
}

/* This program was linked with this machine's. */
static void the_newest_version_that_a_file_asks_for(void **state) {
    (void)state;
    int fd = -1;
    int64_t size = 0;
    unsigned asks[2] = {0}, has[2] = {0};
    struct error err = {0};
    assert_int_equal(file_open("/proc/self/exe", &fd, &size, &err), 0);
    assert_int_equal(elf_glibc(fd, size, asks, &err), 0);
    close(fd);
    assert_true(text_read_version(gnu_get_libc_version(), has));
    assert_true(asks[0] >= 2 && asks[1] >= 2);
    assert_true(asks[0] < has[0] || (asks[0] == has[0] && asks[1] <= has[1]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_no_has_its_reason),
        cmocka_unit_test(a_library_is_a_plain_name_of_a_file),
        cmocka_unit_test(the_newest_version_that_a_file_asks_for),
    };
    return cmocka_run_group_tests_name("machines", tests, NULL, NULL);
}
