/* SPDX-License-Identifier: MIT */
#include "support/fake_host.h"

#include "schedule/constant/constant.c"

static void check(const char *options, double expected) {
    struct fake_host host;
    void *self = NULL;
    fake_host_init(&host, options);
    fake_host_manifest(&host, "schedule/constant");
    assert_int_equal(lathe_ops_.create(&host.table, &self), LATHE_OK);
    for (int64_t step = 0; step < 1000; step += 37) {
        lathe_progress progress = {.size = sizeof progress, .step = step};
        assert_true(lathe_ops_.factor(self, &progress) == expected);
    }
    lathe_ops_.destroy(self);
    fake_host_finish(&host);
}

static void is_1_unless_told(void **state) {
    (void)state;
    check("{}", 1);
}

static void is_what_it_is_told(void **state) {
    (void)state;
    check("{\"factor\": 0.25}", 0.25);
    check("{\"factor\": 0}", 0);
}

static void needs_no_horizon(void **state) {
    (void)state;
    assert_int_equal(lathe_ops_.flags & LATHE_NEEDS_HORIZON, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_1_unless_told),
        cmocka_unit_test(is_what_it_is_told),
        cmocka_unit_test(needs_no_horizon),
    };
    return cmocka_run_group_tests_name("schedule constant", tests, NULL, NULL);
}
