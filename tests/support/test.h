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

/* Built with a sanitizer, a test is slower and touches more memory. */
#if defined __has_feature
#define SANITIZED_BY_CLANG                                                             \
    (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||            \
     __has_feature(undefined_behavior_sanitizer))
#else
#define SANITIZED_BY_CLANG 0
#endif
/* Or under valgrind, which is slower still. */
#if SANITIZED_BY_CLANG || defined __SANITIZE_ADDRESS__ ||                              \
    defined __SANITIZE_THREAD__ || defined LATHE_VALGRIND
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

/* Valgrind computes with denormals, whatever it is asked. */
#ifdef LATHE_VALGRIND
#define CAN_FLUSH 0
#else
#define CAN_FLUSH 1
#endif

#undef fail
#undef fail_msg
#define fail_msg(...)                                                                  \
    (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

#endif
