/* SPDX-License-Identifier: MIT */
/* Sound: forks at every step, with and without exec. The child that does not exec ends
 * by _exit, as the guide says. */
#define _DEFAULT_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include <lathe/callback.h>

static lathe_status make(const lathe_host *host, void **self) {
    *self = (void *)host;
    return LATHE_OK;
}

static lathe_status fork_twice(void *self, const lathe_moment *at) {
    char *const words[] = {"true", NULL};
    int status = 0;
    (void)at;
    pid_t child = fork();
    if (child == 0) _exit(7);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 7 << 8)
        return lathe_fail(self, LATHE_EPLUGIN, "the child that only ends did not");
    child = fork();
    if (child == 0) {
        execvp(words[0], words);
        _exit(8);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return lathe_fail(self, LATHE_EPLUGIN, "the child that runs \"true\" did not");
    return LATHE_OK;
}

LATHE_CALLBACK(.create = make, .step_end = fork_twice);
