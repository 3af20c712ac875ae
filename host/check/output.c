/* SPDX-License-Identifier: MIT */
/* Standard output is the program's: records go there, and predictions. What a plugin
 * has to say is for the log. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check/tests.h"

static void work(struct check *check) {
    struct fixture fixture;
    struct plugin plugin;
    struct text lines = {0};
    if (!fixture_open(&fixture, check, NULL, NULL)) return;
    const bool is_made = fixture_create(&fixture, &plugin, NULL);
    check_output(check);
    fixture_destroy(&fixture, &plugin);
    if (is_made) fixture_work_of(check->subject->manifest->kind)(&fixture, &lines);
    check_output(check);
    fixture_close(&fixture);
    check_output(check);
    text_finish(&lines);
}

void test_output(struct check *check) {
    char said[64] = "";
    fflush(stdout);
    check->output = memfd_create("lathe-check", MFD_CLOEXEC);
    if (check->output < 0 || dup2(check->output, STDOUT_FILENO) < 0) {
        check->output = 0;
        check_skip(check, "standard output cannot be put elsewhere");
        return;
    }
    setvbuf(stdout, NULL, _IONBF, 0); /* so that it is there after the call */
    work(check);
    const ssize_t got = pread(check->output, said, sizeof said - 1, 0);
    said[got > 0 ? got : 0] = 0;
    said[strcspn(said, "\n")] = 0;
    if (check->printed[0])
        check_warn(check,
                   "it prints on standard output in %s: \"%s\"; lathe_log is for what "
                   "it has to say",
                   check->printed, said);
}
