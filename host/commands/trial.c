/* SPDX-License-Identifier: MIT */
#include "commands/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
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
#include "commands/arguments.h"
#include "dylib.h"

#define LIMIT_SECONDS 10
#define PRINTED_MAX (1 << 20)
#define LINE_BYTES 256
/* The descriptor for what the trial says: BEGUN, then a struct error. */
#define ANSWER 3
#define BEGUN "lathe " LATHE_VERSION

extern char **environ;

/* ---- in the process of its own ---- */

/* Ends with whoever started it, leaves no core, and fills no disk. */
static bool prepare(const char *parent) {
    const struct rlimit none = {0, 0}, printed = {PRINTED_MAX, PRINTED_MAX};
    char real[24];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &printed);
    fcntl(ANSWER, F_SETFD, FD_CLOEXEC);
    snprintf(real, sizeof real, "%ld", (long)getppid());
    return strcmp(real, parent) == 0;
}

int trial_serve(int argc, char **argv) {
    struct error err = {0};
    struct dylib *library = NULL;
    if (argc != 4) return EXIT_USAGE;
    if (!prepare(argv[3])) _exit(1);
    (void)!write(ANSWER, BEGUN, sizeof BEGUN);
    dylib_open(argv[2], &library, &err);
    fflush(NULL);
    (void)!write(ANSWER, &err, sizeof err);
    _exit(0); /* what the library registered for exit is not what is tried */
}

/* ---- from outside ---- */

struct trial {
    pid_t pid;
    int printed, said, answer; /* files in memory: stdout, stderr, the answer */
    int status;                /* as waitpid has it */
    bool is_over_time;
};

__attribute__((format(printf, 3, 4))) static lathe_status refuse(lathe_error *error,
                                                                 lathe_status status,
                                                                 const char *format,
                                                                 ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->what, sizeof error->what, format, arguments);
    va_end(arguments);
    error->status = status;
    return status;
}

/* The first line of what was printed; "" for nothing. */
static void read_line(int fd, char line[LINE_BYTES]) {
    const ssize_t got = pread(fd, line, LINE_BYTES - 1, 0);
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

static bool start(struct trial *trial, const char *library) {
    char word[] = TRIAL_WORD, name[] = "lathe", parent[24], program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) return false;
    program[length] = '\0'; /* not the link: a tool that runs this program is there */
    char *argv[] = {name, word, (char *)(uintptr_t)library, parent, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, trial->printed, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, trial->said, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, trial->answer, ANSWER);
    /* A group of its own: what it starts can be ended with it. */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                              POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    const int number =
        posix_spawn(&trial->pid, program, &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return number == 0;
}

/* Ends it, and what it started, when it is done or the time is over; then reaps it. */
static void await(struct trial *trial) {
    struct pollfd done = {.fd = (int)syscall(SYS_pidfd_open, trial->pid, 0),
                          .events = POLLIN};
    const double end = clock_seconds() + LIMIT_SECONDS;
    int ready = 0;
    for (double left = LIMIT_SECONDS; ready == 0 && left > 0;
         left = end - clock_seconds()) {
        if (done.fd < 0) { /* a kernel without them: look now and then */
            siginfo_t info = {0};
            poll(NULL, 0, 1);
            waitid(P_PID, (id_t)trial->pid, &info, WEXITED | WNOHANG | WNOWAIT);
            ready = info.si_pid != 0;
        } else {
            ready = poll(&done, 1, (int)(left * 1000) + 1);
            if (ready < 0 && errno == EINTR) ready = 0;
        }
    }
    trial->is_over_time = ready == 0;
    if (done.fd >= 0) close(done.fd);
    kill(-trial->pid, SIGKILL);
    while (waitpid(trial->pid, &trial->status, 0) < 0 && errno == EINTR) continue;
}

/* Of one that gave no answer. Killed by somebody else, it may load another time. */
static lathe_status judge_end(const struct trial *trial, lathe_error *error) {
    char said[LINE_BYTES];
    read_line(trial->said, said);
    const char *colon = said[0] ? ": " : "";
    if (trial->is_over_time)
        return refuse(error, LATHE_EPLUGIN, "loading it takes more than %d seconds%s%s",
                      LIMIT_SECONDS, colon, said);
    if (!WIFSIGNALED(trial->status))
        return refuse(error, LATHE_EPLUGIN, "loading it ends the process: exit(%d)%s%s",
                      WEXITSTATUS(trial->status), colon, said);
    const int number = WTERMSIG(trial->status);
    const char *name = sigabbrev_np(number);
    return refuse(error, number == SIGKILL ? LATHE_EMISSING : LATHE_EPLUGIN,
                  "loading it ends the process with SIG%s%s%s", name ? name : "?",
                  colon, said);
}

/* Whatever stands between this program and itself (a tool that watches it, an emulator,
 * another version in its place) is not to be taken for the library's doing. */
static bool has_begun(const struct trial *trial) {
    char begun[sizeof BEGUN] = "";
    return pread(trial->answer, begun, sizeof begun, 0) == (ssize_t)sizeof begun &&
           memcmp(begun, BEGUN, sizeof begun) == 0;
}

static lathe_status judge(const struct trial *trial, lathe_error *error) {
    struct error answer = {0};
    char printed[LINE_BYTES];
    if (!has_begun(trial)) return LATHE_END;
    if (pread(trial->answer, &answer, sizeof answer, sizeof BEGUN) !=
        (ssize_t)sizeof answer)
        return judge_end(trial, error);
    read_line(trial->printed, printed);
    if (answer.status == LATHE_OK && printed[0])
        return refuse(error, LATHE_EPLUGIN, "loading it prints on standard output: %s",
                      printed);
    snprintf(error->help, sizeof error->help, "%s", answer.help);
    return refuse(error, answer.status, "%s", answer.what);
}

lathe_status trial_run(void *context, const char *library, lathe_error *error) {
    struct trial trial = {.printed = memfd_create("stdout", MFD_CLOEXEC),
                          .said = memfd_create("stderr", MFD_CLOEXEC),
                          .answer = memfd_create("answer", MFD_CLOEXEC)};
    lathe_status status = LATHE_END;
    (void)context;
    if (trial.printed >= 0 && trial.said >= 0 && trial.answer >= 0 &&
        start(&trial, library)) {
        await(&trial);
        status = judge(&trial, error);
    }
    if (trial.printed >= 0) close(trial.printed);
    if (trial.said >= 0) close(trial.said);
    if (trial.answer >= 0) close(trial.answer);
    return status;
}
