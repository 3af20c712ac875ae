/* SPDX-License-Identifier: MIT */
#include "check/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#define SAID_MAX 400 /* bytes of what a plugin that died had to say */

/* What plugins print is kept for the report of one that dies; no core is left. */
static void prepare(int said) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const struct rlimit none = {0, 0};
    sigset_t all;
    sigfillset(&all); /* the plugin finds none blocked */
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    setrlimit(RLIMIT_CORE, &none);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    if (said >= 0) dup2(said, STDERR_FILENO);
    if (nowhere >= 0) close(nowhere);
}

/* Blocked, they wait for who called. */
static bool is_told_to_end(void) {
    sigset_t waiting;
    return !sigpending(&waiting) &&
           (sigismember(&waiting, SIGHUP) || sigismember(&waiting, SIGINT) ||
            sigismember(&waiting, SIGTERM));
}

/* Reaps it; false: it had to be killed. */
static bool await(pid_t child, double seconds, int *status) {
    struct pollfd done = {.fd = (int)syscall(SYS_pidfd_open, child, 0),
                          .events = POLLIN};
    const double end = clock_seconds() + seconds;
    int ready = 0;
    do {
        const double left = end - clock_seconds();
        ready = poll(&done, 1,
                     left > 0.1 ? 100
                     : left > 0 ? (int)(left * 1000) + 1
                                : 0);
    } while ((ready < 0 && errno == EINTR) ||
             (ready == 0 && clock_seconds() < end && !is_told_to_end()));
    if (ready == 0) kill(child, SIGKILL);
    kill(-child, SIGKILL); /* what it left behind; it is not reaped yet */
    while (waitpid(child, status, 0) < 0 && errno == EINTR) continue;
    if (done.fd >= 0) close(done.fd);
    return ready != 0;
}

/* The last line that was printed to stderr. */
static void read_said(int said, char *text, size_t size) {
    char tail[SAID_MAX + 1];
    const off_t end = lseek(said, 0, SEEK_END);
    const off_t from = end > SAID_MAX ? end - SAID_MAX : 0;
    ssize_t got = pread(said, tail, SAID_MAX, from);
    tail[got > 0 ? got : 0] = 0;
    while (got > 0 && tail[got - 1] == '\n') tail[--got] = 0;
    const char *line = strrchr(tail, '\n');
    snprintf(text, size, "%s", line ? line + 1 : tail);
    text_clean(text);
}

static void tell_death(const struct result *result, int status, bool is_late,
                       double limit, int said, struct outcome *outcome) {
    char last[SAID_MAX + 1] = "", how[128];
    if (said >= 0) read_said(said, last, sizeof last);
    if (is_late)
        snprintf(how, sizeof how, "it was not done after %g s", limit);
    else if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "it crashed with signal %d (%s)", WTERMSIG(status),
                 sigdescr_np(WTERMSIG(status)) ? sigdescr_np(WTERMSIG(status)) : "?");
    else
        snprintf(how, sizeof how, "it ended the process with exit status %d",
                 WEXITSTATUS(status));
    snprintf(outcome->reason, sizeof outcome->reason, "%s%s%s%s%s%s", how,
             result->doing[0] ? " in " : "", result->doing,
             last[0] ? " (it said: " : "", last, last[0] ? ")" : "");
    outcome->verdict = VERDICT_FAIL;
}

static void take(const struct result *result, int status, bool is_late, double limit,
                 int said, struct outcome *outcome) {
    *outcome = (struct outcome){.verdict = result->verdict, .answer = result->answer};
    snprintf(outcome->reason, sizeof outcome->reason, "%s", result->reason);
    if (!result->is_done) tell_death(result, status, is_late, limit, said, outcome);
}

/* ---- a folder for what the test writes, also for one that crashes ---- */

static void make_folder(struct check *check) {
    snprintf(check->folder, sizeof check->folder, "%s/test-XXXXXX",
             check->place ? check->place : "");
    if (!check->place || !mkdtemp(check->folder)) check->folder[0] = '\0';
}

lathe_status runner_run(const struct test *test, struct check *check,
                        struct outcome *outcome, struct error *err) {
    const double began = clock_seconds();
    struct result *result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (result == MAP_FAILED)
        return fail(err, LATHE_ENOMEM, "no memory for a test: %s", strerror(errno));
    int said = memfd_create("lathe-check", MFD_CLOEXEC);
    make_folder(check);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        prepare(said);
        check->result = result;
        check->began = began;
        test->run(check);
        __atomic_store_n(&result->is_done, true, __ATOMIC_RELEASE);
        _exit(0);
    }
    lathe_status status = LATHE_OK;
    if (child < 0) {
        status = fail(err, LATHE_ENOMEM, "no process for a test: %s", strerror(errno));
    } else {
        int how = 0;
        const bool is_in_time = await(child, check->time_limit, &how);
        take(result, how, !is_in_time, check->time_limit, said, outcome);
        outcome->seconds = clock_seconds() - began;
    }
    if (said >= 0) close(said);
    if (check->folder[0]) file_remove_tree(check->folder);
    munmap(result, sizeof *result);
    return status;
}
