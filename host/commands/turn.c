/* SPDX-License-Identifier: MIT */
#include "commands/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <lathe/session.h>

#include "base/text.h"
#include "commands/commands.h"
#include "commands/crash.h"
#include "commands/trial.h"

#define EXIT_PREEMPTED 75
#define EXIT_INTERRUPTED 130

/* ---- signals ---- */

/* A handler gets no argument. It finds no session while one is being opened: what came
 * then is kept in `pending`. */
static _Atomic(lathe_session *) running;
static volatile sig_atomic_t pending, interrupts, is_interactive;

static const char *stop_reason(int number) {
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

static void stop(int number) {
    static const char note[] =
        "\nlathe: ending after this step; Ctrl-C again ends at once\n";
    int saved = errno;
    lathe_session *session = atomic_load(&running);
    if (!pending) pending = number;
    if (session) lathe_stop(session, stop_reason(number));
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
    lathe_session *session = atomic_load(&running);
    (void)number;
    if (session) lathe_request(session, LATHE_REQUEST_SAVE);
}

/* Also where a shell had SIGINT ignored, as for a job in the background: who sends it
 * all the same wants the run to end. */
static void catch_signals(void) {
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    sigset_t both;
    sigemptyset(&action.sa_mask);
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    is_interactive = isatty(STDERR_FILENO);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL); /* --time-limit */
    action.sa_handler = save;
    sigaction(SIGUSR1, &action, NULL);
    sigprocmask(SIG_UNBLOCK, &both, NULL);
}

static void begin_time_limit(double seconds) {
    const double most = 1e9; /* thirty years */
    struct itimerval timer = {0};
    if (seconds <= 0) return;
    if (seconds > most) seconds = most;
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6);
    if (!timer.it_value.tv_sec && !timer.it_value.tv_usec) timer.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void set_running(lathe_session *session) {
    atomic_store(&running, session);
    if (session && pending) lathe_stop(session, stop_reason(pending));
}

/* ---- what the session says ---- */

static void print_log(void *context, int32_t level, const char *text) {
    const struct turn *turn = context;
    int32_t shown =
        turn->is_quiet || turn->is_json ? LATHE_LOG_WARNING : LATHE_LOG_INFO;
    if (level > shown + turn->verbosity) return;
    const char *prefix = level == LATHE_LOG_ERROR     ? "lathe: "
                         : level == LATHE_LOG_WARNING ? "lathe: warning: "
                                                      : "";
    fprintf(stderr, "%s%s%s\n", turn->is_terminal ? "\r\033[K" : "", prefix, text);
}

/* Nobody reads, or the disk is full: the run ends at the next boundary. */
static void print_line(struct turn *turn, const char *json) {
    if (turn->output_error) return;
    errno = 0;
    if (fprintf(turn->output, "%s\n", json) >= 0 && !fflush(turn->output)) return;
    turn->output_error = errno ? errno : EIO;
    lathe_session *session = atomic_load(&running);
    if (session) lathe_stop(session, "failed");
}

static void take_record(void *context, const char *json) {
    static const char end[] = "{\"event\":\"end\"";
    struct turn *turn = context;
    if (!strncmp(json, end, sizeof end - 1)) {
        free(turn->end);
        turn->end = text_copy(json);
    } else if (turn->is_json) {
        print_line(turn, json);
    }
}

static void take_trace(void *context, const char *line) {
    struct turn *turn = context;
    lathe_session *session = atomic_load(&running);
    if (!trace_add(&turn->trace, line) && session) lathe_stop(session, "failed");
}

/* ---- how it ended ---- */

static void print_failure(struct turn *turn, const struct error *error, int code) {
    command_print_error(error);
    if (!turn->is_json) return;
    struct text text = {0};
    text_format(&text, "{\"event\":\"error\",\"exit_code\":%d,\"message\":", code);
    text_json_string(&text, error->what);
    text_add(&text, ",\"where\":");
    text_json_string(&text, error->where);
    text_add(&text, ",\"help\":");
    text_json_string(&text, error->help);
    text_add(&text, "}");
    if (!text.is_broken) print_line(turn, text.data);
    text_finish(&text);
}

static void print_end(struct turn *turn) {
    static const char nothing[] =
        "{\"event\":\"end\",\"reason\":\"failed\",\"epochs\":0,\"steps\":0,"
        "\"samples\":0,\"run\":null,\"metrics\":{}}";
    if (turn->is_json) print_line(turn, turn->end ? turn->end : nothing);
}

static int refuse(struct turn *turn, const struct error *error, int code) {
    print_failure(turn, error, code);
    print_end(turn);
    return code;
}

static int finish(struct turn *turn, lathe_session *session, lathe_status status) {
    const char *reason = lathe_reason(session);
    struct error error = {0}, traced = {0};
    const bool is_traced = trace_close(&turn->trace, &traced) == LATHE_OK;
    int code = error_exit_code(status), number = turn->output_error;
    if (!is_traced && !number) number = turn->trace.number;
    if (status < 0)
        command_take_error(&error, lathe_last_error(session));
    else if (reason && !strcmp(reason, "interrupted"))
        code = EXIT_INTERRUPTED;
    else if (reason && !strcmp(reason, "preempted"))
        code = EXIT_PREEMPTED;
    /* Stopped for want of a reader, a session says so in words of its own. */
    if (status < 0 && !(number && status == LATHE_EIO))
        print_failure(turn, &error, code);
    print_end(turn);
    if (!is_traced) command_print_error(&traced);
    if (!is_traced && !code) code = error_exit_code(LATHE_EIO);
    if (!turn->output_error || (status < 0 && !number)) return code;
    fail(&error, LATHE_EIO, "cannot write to standard output: %s",
         strerror(turn->output_error));
    command_print_error(&error);
    return status < 0 ? code : error_exit_code(LATHE_EIO);
}

/* ---- plugins that print, plugins that exit ---- */

/* Records have stdout to themselves: what a plugin prints there comes out on stderr. */
static void take_stdout(struct turn *turn) {
    turn->output = stdout;
    if (!turn->is_json) return;
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *output = fd < 0 ? NULL : fdopen(fd, "w");
    if (!output && fd >= 0) close(fd);
    if (!output) return; /* it is closed, which the first record will tell */
    dup2(STDERR_FILENO, STDOUT_FILENO);
    turn->output = output;
}

static void give_stdout_back(struct turn *turn) {
    if (turn->output == stdout) return;
    fflush(stdout);
    __fpurge(stdout); /* what could not be written is not for the records' reader */
    clearerr(stdout);
    dup2(fileno(turn->output), STDOUT_FILENO);
    fclose(turn->output);
    turn->output = stdout;
}

static struct turn *watched; /* while plugins may run: atexit passes no context */

/* An exit from below would end the run with any status, 0 too, and no word. Nobody
 * knows where it stands, so nothing more is done with it: its status.json reads as
 * died. */
static void refuse_exit(void) {
    struct turn *turn = watched;
    struct error error = {0};
    if (!turn) return;
    watched = NULL;
    char line[CRASH_LINE];
    const bool is_known = crash_in_progress(line);
    fail(&error, LATHE_EPLUGIN, "a plugin called exit, which ends the whole program");
    if (is_known) error_where(&error, "%s", line);
    error_help(&error, "a plugin reports a failure by its return value%s",
               is_known ? "" : "; leave out plugins one by one to find it");
    fflush(stdout);
    print_failure(turn, &error, error_exit_code(error.status));
    if (!atomic_load(&running)) print_end(turn);
    fflush(turn->output);
    _exit(error_exit_code(error.status));
}

/* ---- the whole ---- */

static int turn_session(struct turn *turn, lathe_session_options *options) {
    lathe_session *session = NULL;
    lathe_error failure = {.size = sizeof failure};
    struct error error = {0};
    options->size = sizeof *options;
    options->flags |= turn->is_quiet || turn->is_json ? LATHE_QUIET : 0;
    options->log = print_log;
    options->record = take_record;
    options->trace = turn->trace.path ? take_trace : NULL;
    options->context = turn;
    options->try_library = trial_run;
    if (trace_open(&turn->trace, &error) != LATHE_OK)
        return refuse(turn, &error, error_exit_code(error.status));
    catch_signals();
    begin_time_limit(turn->time_limit);
    crash_watch(&session, turn->is_json ? fileno(turn->output) : -1);
    lathe_status status = lathe_open(options, &session, &failure);
    if (status) {
        crash_forget();
        trace_close(&turn->trace, NULL);
        command_take_error(&error, &failure);
        return refuse(turn, &error, error_exit_code(status));
    }
    set_running(session);
    status = lathe_run(session);
    int code = finish(turn, session, status);
    set_running(NULL);
    lathe_close(session);
    crash_forget();
    return code;
}

int turn_to_end(struct turn *turn, lathe_session_options *options, int code,
                const struct error *err) {
    struct error error = {0};
    turn->is_terminal = isatty(STDERR_FILENO);
    take_stdout(turn);
    if (code) {
        refuse(turn, err, code);
    } else if (atexit(refuse_exit)) {
        fail(&error, LATHE_ENOMEM, "no memory to watch plugins");
        code = refuse(turn, &error, error_exit_code(LATHE_ENOMEM));
    } else {
        watched = turn;
        code = turn_session(turn, options);
        watched = NULL;
    }
    give_stdout_back(turn);
    free(turn->end);
    return code;
}
