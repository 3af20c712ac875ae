/* SPDX-License-Identifier: MIT */
#include "commands/turn_signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands/crash.h"

/* A handler gets no argument. `pending`: the first signal that wants an end. */
static lathe_session *running;
static volatile sig_atomic_t pending, interrupts, is_interactive, is_open;
static double limit_end; /* clock; 0: there is no time limit */

lathe_session **turn_session_place(void) {
    return &running;
}

lathe_session *turn_session_now(void) {
    return __atomic_load_n(&running, __ATOMIC_ACQUIRE);
}

static const char *reason_of(int number) {
    return number == SIGINT ? "interrupted" : "preempted";
}

/* Where it hangs, perhaps. */
static void tell_progress(void) {
    static const char begin[] = "\nlathe: interrupted during ";
    char line[CRASH_LINE + 1];
    if (!crash_in_progress(line)) return;
    const size_t length = strlen(line);
    line[length] = '\n';
    (void)!write(STDERR_FILENO, begin, sizeof begin - 1);
    (void)!write(STDERR_FILENO, line, length + 1);
}

/* Somebody's who sent it, or of a plugin that set a timer: it ends the run all the
 * same, for the time limit's may be gone. */
static void tell_strange_alarm(void) {
    static const char note[] =
        "\nlathe: ending after this step for a SIGALRM that is not "
        "the time limit's; a plugin may have called alarm\n";
    if (limit_end <= 0 || clock_seconds() < limit_end)
        (void)!write(STDERR_FILENO, note, sizeof note - 1);
}

static void stop(int number) {
    static const char note[] =
        "\nlathe: ending after this step, and \"lathe resume RUN\" goes on; "
        "Ctrl-C again ends at once\n";
    int saved = errno;
    lathe_session *session = turn_session_now();
    if (!pending && number == SIGALRM) tell_strange_alarm();
    if (!pending) pending = number;
    /* A time that is over before the run begins still leaves one, with its state. */
    if (session && (is_open || number != SIGALRM))
        lathe_stop(session, reason_of(number));
    if (number == SIGINT && interrupts++ > 0) {
        tell_progress();
        signal(SIGINT, SIG_DFL);
        raise(SIGINT); /* takes effect when the handler returns */
    } else if (number == SIGINT && is_interactive) {
        (void)!write(STDERR_FILENO, note, sizeof note - 1);
    }
    errno = saved;
}

/* A checkpoint at the next boundary, and on with it. */
static void save(int number) {
    lathe_session *session = turn_session_now();
    (void)number;
    if (session) lathe_request(session, LATHE_REQUEST_SAVE);
}

/* Also where a shell had SIGINT ignored, as for a job in the background: who sends it
 * all the same wants the run to end. Only a run that can be resumed tells a terminal
 * how. */
void turn_catch_signals(bool can_resume) {
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    struct sigaction before;
    sigset_t all;
    sigemptyset(&action.sa_mask);
    sigemptyset(&all);
    sigaddset(&all, SIGHUP);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGTERM);
    is_interactive = can_resume && isatty(STDERR_FILENO);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL); /* --time-limit */
    if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL); /* nohup is obeyed */
    action.sa_handler = save;
    sigaction(SIGUSR1, &action, NULL);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
}

void turn_begin_time_limit(double seconds) {
    const double most = 1e9; /* thirty years */
    struct itimerval timer = {0};
    if (seconds <= 0) return;
    if (seconds > most) seconds = most;
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6);
    if (!timer.it_value.tv_sec && !timer.it_value.tv_usec) timer.it_value.tv_usec = 1;
    limit_end = clock_seconds() + seconds - 0.01; /* another clock's ticks */
    setitimer(ITIMER_REAL, &timer, NULL);
}

const char *turn_stop_reason(void) {
    return pending ? reason_of(pending) : NULL;
}

void turn_begin_signals(void) {
    is_open = 1;
    if (pending) lathe_stop(turn_session_now(), turn_stop_reason());
}

void turn_end_signals(void) {
    __atomic_store_n(&running, NULL, __ATOMIC_RELEASE);
}
