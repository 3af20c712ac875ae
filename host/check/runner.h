/* SPDX-License-Identifier: MIT */
/* Runs one test in a process of its own, with a time limit, and finds the words for
 * what became of it. The calling process has one thread and has loaded nothing. */
#ifndef HOST_CHECK_RUNNER_H
#define HOST_CHECK_RUNNER_H

#include "check/check.h"

struct outcome {
    enum verdict verdict;
    uint32_t answer;
    double seconds;
    char reason[1600];
};

/* LATHE_ENOMEM when there can be no such process. */
lathe_status runner_run(const struct test *test, struct check *check,
                        struct outcome *outcome, struct error *err);

#endif
