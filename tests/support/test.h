/* SPDX-License-Identifier: MIT */
/* cmocka with what it needs, and without its fail(): that name is the host's. fail_msg
 * stays. */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef fail
#undef fail_msg
#define fail_msg(...)                                                                  \
    (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

#endif
