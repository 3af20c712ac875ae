/* SPDX-License-Identifier: MIT */
#include "commands/crash.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/backtrace.h"
#include "commands/commands.h"
#include "plan.h"
#include "workers.h"

#define EXIT_PLUGIN 70
#define PATIENCE 10 /* seconds that a report may take */

/* A signal handler gets no argument. */
static lathe_session *const *watched;
static volatile sig_atomic_t is_reporting, record_fd;

static const struct ring *find_ring(void) {
    return watched && *watched ? plan_ring(*watched) : NULL;
}

bool crash_in_progress(char line[CRASH_LINE]) {
    const struct ring *ring = find_ring();
    struct ring_call call;
    if (!ring || !ring_culprit(ring, workers_self(), &call)) return false;
    ring_describe(ring, &call, line, CRASH_LINE);
    return true;
}

void crash_forget(void) {
    watched = NULL;
}

static void put(int fd, const char *text) {
    if (fd >= 0) (void)!write(fd, text, strlen(text));
}

static int open_directory(void) {
    const char *path = watched && *watched ? plan_directory(*watched) : NULL;
    return path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* The last two records of a run that has none of its own any more. */
static void put_records(const char *message, const char *where, const char *help) {
    char text[8 << 10];
    struct plain records = {text, 0, sizeof text};
    if (record_fd < 0) return;
    plain_add(&records, "{\"event\":\"error\",\"exit_code\":70,\"message\":");
    plain_add_json(&records, message);
    plain_add(&records, ",\"where\":"), plain_add_json(&records, where);
    plain_add(&records, ",\"help\":"), plain_add_json(&records, help);
    plain_add(&records, "}\n");
    plan_end_record(watched ? *watched : NULL, &records);
    plain_add(&records, "\n");
    put(record_fd, text);
}

/* Nobody knows where a run stands whose plugin exits, so nothing more is done with
 * it. */
void crash_refuse_exit(void) {
    char line[CRASH_LINE];
    struct error error = {0};
    if (!watched) return;
    const int directory = open_directory();
    const bool is_known = crash_in_progress(line);
    fail(&error, LATHE_EPLUGIN, "a plugin called exit, which ends the whole program");
    if (is_known) error_where(&error, "%s", line);
    error_help(&error, "a plugin reports a failure by its return value%s",
               is_known ? "" : "; leave out plugins one by one to find it");
    fflush(stdout);
    command_print_error(&error);
    if (directory >= 0) plan_note_crash(*watched, directory, EXIT_PLUGIN);
    put_records(error.what, error.where, error.help);
    _exit(EXIT_PLUGIN);
}

#if LATHE_SANITIZED

void crash_watch(lathe_session *const *session, int records) {
    watched = session;
    record_fd = records;
}

#else

static const char *name_of(int number) {
    switch (number) {
    case SIGSEGV:
        return "SIGSEGV";
    case SIGBUS:
        return "SIGBUS";
    case SIGFPE:
        return "SIGFPE";
    case SIGILL:
        return "SIGILL";
    default:
        return "SIGABRT";
    }
}

/* "SIGSEGV in callbacks[1] chaos …": what stderr and crash.txt both begin with. */
static void put_what(int fd, int number) {
    char line[CRASH_LINE];
    const bool is_known = crash_in_progress(line);
    put(fd, name_of(number));
    if (workers_self() < 0) put(fd, " in a thread that is not the host's");
    put(fd, is_known             ? workers_self() < 0 ? ", during " : " in "
            : workers_self() < 0 ? ""
                                 : " in the host, between calls of plugins");
    put(fd, is_known ? line : "");
    put(fd, "\n");
}

static void put_calls(int fd) {
    const struct ring *ring = find_ring();
    struct ring_call call;
    char line[CRASH_LINE];
    if (!ring) return;
    put(fd, "\nIn progress\n");
    for (int i = 0; i < RING_WORKERS; i++)
        if (ring_now(ring, i, &call)) {
            ring_describe(ring, &call, line, sizeof line);
            put(fd, "  "), put(fd, line), put(fd, "\n");
        }
    put(fd, "\nThe last calls, the newest first\n");
    for (int i = 0; ring_last(ring, i, &call); i++) {
        ring_describe(ring, &call, line, sizeof line);
        put(fd, "  "), put(fd, line), put(fd, "\n");
    }
}

static void put_crash(int number, const char *where) {
    char line[CRASH_LINE] = "the host", text[CRASH_LINE + 16];
    struct plain message = {text, 0, sizeof text};
    crash_in_progress(line);
    plain_add(&message, name_of(number)), plain_add(&message, " in ");
    plain_add(&message, line);
    put_records(text, where, "");
}

static int open_report(int directory) {
    if (directory < 0) return -1;
    return openat(directory, "crash.txt",
                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
}

static void report(int number) {
    char where[CRASH_LINE];
    const char *path = watched && *watched ? plan_directory(*watched) : NULL;
    const int directory = open_directory();
    int file = open_report(directory);
    put(STDERR_FILENO, isatty(STDERR_FILENO) ? "\nlathe: " : "lathe: ");
    put_what(STDERR_FILENO, number);
    put(file, "lathe " LATHE_VERSION ": ");
    put_what(file, number);
    put_calls(file);
    if (directory >= 0) plan_note_crash(*watched, directory, EXIT_PLUGIN);
    put(file, "\nBacktrace\n");
    backtrace_write(file, where, sizeof where);
    put_crash(number, where);
    if (where[0])
        put(STDERR_FILENO, "  where: "), put(STDERR_FILENO, where),
            put(STDERR_FILENO, "\n");
    if (file < 0) return;
    put(STDERR_FILENO, "  help: the last calls and a backtrace are in ");
    put(STDERR_FILENO, path), put(STDERR_FILENO, "/crash.txt\n");
}

static void give_up(int number) {
    (void)number;
    _exit(EXIT_PLUGIN);
}

/* A crash of the report itself ends it; another thread that crashes waits for that. */
static void crash(int number) {
    static volatile sig_atomic_t reporter;
    struct sigaction action = {.sa_handler = give_up};
    sigset_t alarms;
    if (__atomic_exchange_n(&is_reporting, 1, __ATOMIC_SEQ_CST)) {
        while (reporter != gettid()) pause();
        _exit(EXIT_PLUGIN);
    }
    reporter = gettid();
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigaction(SIGALRM, &action, NULL);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    alarm(PATIENCE);
    report(number);
    _exit(EXIT_PLUGIN);
}

static void bus(int number, siginfo_t *info, void *context) {
    (void)context;
    if (!watched || !*watched || !plan_mend(*watched, info->si_addr)) crash(number);
}

/* The stack that a crash is reported on may be all there is left. Helpers take one of
 * the same size. */
static void take_stack(void) {
    static _Alignas(16) char memory[128 << 10];
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    sigaltstack(&stack, NULL);
}

void crash_watch(lathe_session *const *session, int records) {
    static const int numbers[] = {SIGSEGV, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_handler = crash,
                               .sa_flags = SA_ONSTACK | SA_NODEFER};
    watched = session;
    record_fd = records;
    backtrace_begin();
    take_stack();
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
    action.sa_sigaction = bus;
    action.sa_flags |= SA_SIGINFO;
    sigaction(SIGBUS, &action, NULL);
}

#endif
